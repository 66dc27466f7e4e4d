// The widget's page: a configurator, and uses whose source is what runs; by keyboard, for screen readers, in both themes,
// from narrow to wide, and without WebGPU.
import { expect, type Page, test } from '@playwright/test';
import { audit } from './axe.ts';
import { withoutWebGpu } from './browser.ts';
import { ALONE, expectCalm, takeCandidate } from './demo.ts';
import { paced } from './paced.ts';

const PAGE = '/widget.html';

const open = async (page: Page): Promise<readonly string[]> => {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(PAGE);
  await expect(page.locator('outrider-chat')).toHaveCount(9);
  return complaints;
};

const FIRST = '#recordings outrider-chat:first-of-type';
const recording = (page: Page) => page.locator(FIRST);

/** Recordings play when the page opens. */
const stopRecordings = (page: Page): Promise<void> =>
  page.locator('#recordings').evaluate(async (section) => {
    const chats = [...section.querySelectorAll('outrider-chat')];
    for (const chat of chats) chat.stop();
    while (chats.some(({ busy }) => busy)) await new Promise((resolve) => setTimeout(resolve, 10));
  });

/** The recording, to its end. */
const play = async (page: Page): Promise<void> => {
  await stopRecordings(page);
  await recording(page).evaluate(async (chat: HTMLElementTagNameMap['outrider-chat']) => {
    chat.speed = 2;
    await chat.send();
  });
};

test('shows the source that runs, plays recordings, and starts no model by itself', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const complaints = await open(page);
  for (const chat of await page.locator('#recordings outrider-chat').all())
    await expect(chat.locator('[part~=token]').first()).toBeVisible();
  expect(asked.filter((path) => path.includes('/traces/')).length).toBe(3);
  await page.waitForTimeout(500);
  expect(asked.filter((path) => /\/models\/|\/(worker|engine)-/.test(path))).toEqual([]);
  expect(page.workers()).toHaveLength(0);
  for (const id of ['recordings', 'own', 'themed', 'events', 'pair']) {
    const tag = (text: string): string => /<outrider-chat[^>]*>/.exec(text)?.[0].replaceAll(/\s+/g, ' ') ?? id;
    const live = await page.locator(`#${id} .live`).evaluate((node) => node.innerHTML);
    const shown = (await page.locator(`#${id} pre`).textContent()) ?? '';
    expect(tag(live).replaceAll('=""', '')).toBe(tag(shown).replaceAll(/ (?=>)/g, ''));
  }
  expect(complaints).toEqual([]);
});

test('the configurator: each choice is an attribute of the element next to it and of the lines to copy', async ({
  page,
}) => {
  const complaints = await open(page);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const chat = page.locator('#config-live outrider-chat');
  const lines = page.locator('#config-lines');
  await page.getByLabel('Model', { exact: true }).selectOption('mid');
  await expect(page.getByLabel('Decoding', { exact: true }).locator('option')).not.toContainText(['DFlash']); // mid has no such drafter
  await page.getByLabel('Decoding', { exact: true }).selectOption('draft-model');
  await page.getByLabel('Theme', { exact: true }).selectOption('dark');
  await page.getByLabel('Title', { exact: true }).fill('A “tutor” & more');
  await page.getByLabel('Token limit').fill('50');
  await page.getByLabel('Show rejected drafts').check();
  await page.getByLabel('Constraint', { exact: true }).selectOption('choice');
  const wanted = { model: 'mid', system: 'draft-model', theme: 'dark', label: 'A “tutor” & more', 'max-tokens': '50' };
  for (const [name, value] of Object.entries(wanted)) await expect(chat).toHaveAttribute(name, value);
  await expect(lines).toContainText("import 'outrider/widget'");
  await expect(page.locator('#config-note')).toContainText('no grammar engine');
  await page.getByRole('button', { name: 'Copy the two lines' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(await lines.textContent());
  // What was copied makes the same element.
  const same = await page.evaluate((text) => {
    const made = new DOMParser().parseFromString(text, 'text/html').querySelector('outrider-chat');
    const live = document.querySelector('#config-live outrider-chat');
    const of = (node: Element | null) =>
      [...(node?.attributes ?? [])].map(({ name, value }) => `${name}=${value}`).sort();
    return [of(made), of(live)];
  }, copied);
  expect(same[0]).toEqual(same[1]);
  expect(same[0]?.length).toBe(8);
  await page.getByLabel('Constraint', { exact: true }).selectOption('');
  await expect(lines).toContainText('src="./outrider-chat.js"');
  await expect(chat).not.toHaveAttribute('constraint');
  expect(complaints).toEqual([]);
});

test('a model of the visitor’s own: nothing is fetched before the button is pressed; a constraint that is an attribute holds', async ({
  page,
  baseURL,
}) => {
  const complaints = await open(page);
  const own = page.locator('#own');
  const address = new URL('models/draft/', baseURL).href;
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await own.getByRole('textbox', { name: 'Address' }).fill(address);
  await page.waitForTimeout(300);
  expect(asked.filter((url) => url.includes('/models/'))).toEqual([]);
  await expect(own.getByRole('button', { name: 'Send' })).toBeDisabled();
  await own.getByRole('button', { name: 'Use this model' }).click();
  const box = own.getByRole('textbox', { name: 'Message' });
  await expect(box).toBeFocused();
  expect(asked.filter((url) => url.startsWith(address)).length).toBeGreaterThan(2);
  await box.fill('Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?');
  await page.keyboard.press('Enter');
  await expect(own.locator('outrider-chat').getByRole('status')).toContainText('84');

  // The same model for another element: the page has one engine, which has compiled it.
  const chat = page.locator('#config-live outrider-chat');
  await page.getByLabel('Model', { exact: true }).selectOption('draft');
  await page.getByLabel('Constraint', { exact: true }).selectOption('json');
  await chat.getByRole('button', { name: 'Send' }).click();
  await expect(chat.getByRole('log')).toContainText(/\{"answer": \d+\}/);
  await expect(chat.locator('[part~=forced]').first()).toHaveAttribute('title', 'forced by the constraint');
  await chat.evaluate((node) => node.setAttribute('constraint', '{broken'));
  await chat.getByRole('textbox', { name: 'Message' }).fill('Leo has 3 trees. How many are that?');
  await page.keyboard.press('Enter');
  await expect(chat.getByRole('alert')).toContainText('The attribute constraint is not JSON');
  expect(complaints).toEqual([]);
});

test('where reduced motion is wanted a recording is there at once', async ({ browser }) => {
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  await page.addInitScript((selector) => {
    const seen: string[] = [];
    const look = (): void => {
      seen.push(document.querySelector(selector)?.shadowRoot?.querySelector('.answer')?.textContent ?? '');
      requestAnimationFrame(look); // what is never drawn is never seen
    };
    look();
    Object.assign(globalThis, { seen });
  }, FIRST);
  await page.goto(PAGE);
  await expect(recording(page).getByRole('log')).toContainText('The answer is 52.');
  // Its speed is that of another machine.
  await expect(recording(page).getByText(/, recorded elsewhere$/)).toBeVisible();
  await expect(recording(page).getByText('target passes', { exact: true })).toBeVisible();
  await expect(recording(page).getByText('tokens/s')).toBeHidden();
  const seen = await page.evaluate(() => (globalThis as unknown as { seen: readonly string[] }).seen);
  expect(seen.filter((text) => text !== '' && !text.includes('The answer is 52.'))).toEqual([]);
  await page.close();
});

test('by keyboard: asks, stops, reads on; the page hears of every round', async ({ page }) => {
  await paced(page);
  const complaints = await open(page);
  const use = page.locator('#events');
  await use.getByRole('log').focus();
  await page.keyboard.press('Tab');
  const box = use.getByRole('textbox', { name: 'Message' });
  await expect(box).toBeFocused();
  expect(await box.evaluate((node) => getComputedStyle(node).outlineStyle)).toBe('solid');
  await takeCandidate(box);
  expect(await use.locator('outrider-chat').evaluate((chat) => 'busy' in chat && chat.busy)).toBe(false);
  await page.keyboard.press('Shift+Enter');
  await expect(use.getByRole('button', { name: 'Send' })).toBeVisible(); // a line end, not yet a message
  await page.keyboard.press('Enter');
  await expect(use.locator('#summary')).toContainText(/\d+ tokens in \d+ passes/);
  const lengths = await use.locator('#rounds li').allTextContents();
  const tokens = lengths.reduce((sum, length) => sum + Number(length), 0);
  await expect(use.locator('#summary')).toContainText(`${tokens} tokens`);
  await expect(use.locator('outrider-chat').getByRole('status')).toContainText('52');

  await box.fill('Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?');
  await page.evaluate(() => {
    document.addEventListener('outrider-round', () => {
      const target = document.querySelector('#observed')?.shadowRoot?.querySelector('textarea');
      target?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    });
  });
  await page.keyboard.press('Enter');
  await expect(use.locator('outrider-chat').getByRole('status')).toContainText('The answer is stopped.');
  expect(complaints).toEqual([]);
});

test('is accessible and fits every width, in both themes', async ({ page }) => {
  const complaints = await open(page);
  await play(page);
  const background = (id: string): Promise<string> =>
    page
      .locator(`${id} outrider-chat`)
      .first()
      .evaluate((chat) => getComputedStyle(chat.shadowRoot?.querySelector('.panel') ?? chat).backgroundColor);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }); // axe measures colours at rest
    expect((await audit(page)).map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' '))}`)).toEqual(
      [],
    );
    expect(await background('#config-live')).toBe(colorScheme === 'dark' ? 'rgb(23, 26, 31)' : 'rgb(255, 254, 251)');
    expect(await background('#themed')).toBe('rgb(16, 32, 28)'); // of its own, by a variable
    for (const width of [360, 768, 1280, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  }
  const send = page.locator('#themed').getByRole('button', { name: 'Send' });
  expect(await send.evaluate((node) => getComputedStyle(node).borderRadius)).toBe('32px'); // by a part
  await expect(page.locator('#themed')).toContainText('Answers are computed on your own graphics card.');
  expect(complaints).toEqual([]);
});

test(
  'streaming does not disturb the page: no long task, enough frames, and no layout shift',
  ALONE,
  async ({ page }) => {
    await open(page);
    const chat = page.locator('#config-live outrider-chat');
    const question = await chat.getAttribute('prompt');
    expect(await chat.evaluate((node: HTMLElementTagNameMap['outrider-chat']) => node.load())).toBe(true);
    const box = chat.getByRole('textbox', { name: 'Message' });
    await expectCalm(page, '#config-live outrider-chat [part=send]', () => box.fill(question ?? ''));
    await expect(chat.getByRole('log')).toContainText('The answer is 84.');
  },
);

test('nothing moves while a recording is played', ALONE, async ({ page }) => {
  await open(page);
  await stopRecordings(page);
  await expectCalm(page, `${FIRST} [part=send]`);
});

test('a double click on the button starts, and does not stop what it has started', async ({ page }) => {
  await open(page);
  await stopRecordings(page);
  await recording(page).evaluate((chat: HTMLElementTagNameMap['outrider-chat']) => chat.reset());
  await recording(page).getByRole('button', { name: 'Play' }).dblclick();
  await expect(recording(page).getByRole('status')).toContainText('The answer is complete.');
});

test('a long recording is followed with one look at its height a frame, until the visitor scrolls back', async ({
  page,
}) => {
  await open(page);
  const plays = await page.locator('#config-live').evaluate(async (place) => {
    const recorded = (await (await fetch('./traces/problem-1.jsonl')).text()).trim().split('\n');
    const [run, done] = [recorded[0], recorded.at(-1)].map((line) => JSON.parse(line ?? ''));
    const round = {
      type: 'commit',
      round: 1,
      tokens: [5],
      source: ['sampled'],
      text: ' stones',
      logprobs: null,
      ms: 1,
    };
    const rounds = Array.from({ length: 1000 }, (_, i) => ({ ...round, at: 2 + i }));
    const events = [{ ...run, at: 1 }, ...rounds, { ...done, at: 1002 }];
    const chat = document.createElement('outrider-chat');
    chat.trace = URL.createObjectURL(new Blob([events.map((event) => JSON.stringify(event)).join('\n')]));
    place.append(chat);

    const log = chat.shadowRoot?.querySelector('.log') as HTMLElement;
    let looks = 0;
    Object.defineProperty(log, 'scrollHeight', {
      get() {
        looks++;
        return Reflect.get(Element.prototype, 'scrollHeight', this);
      },
    });
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const play = async (scrollsBack: boolean) => {
      let [frames, isBack, ended] = [0, false, false];
      chat.reset(); // back to the top
      chat.speed = scrollsBack ? 0.2 : 1; // slow machines draw few frames in the recording's second
      looks = 0;
      const played = chat.send().then(() => {
        ended = true;
      });
      while (!ended) {
        await nextFrame();
        frames++;
        if (!scrollsBack || isBack || log.scrollTop < 100) continue; // so near the end is at the end
        log.scrollTop = 0;
        isBack = true;
      }
      await played;
      const seen = looks;
      await nextFrame();
      return { frames, looks: seen, above: log.scrollTop, below: log.scrollHeight - log.scrollTop - log.clientHeight };
    };
    return [await play(false), await play(true)];
  });
  // Before the first token of a frame, and to show the end; and when a replay begins.
  for (const { frames, looks } of plays) expect(looks).toBeLessThanOrEqual(2 * frames + 1);
  expect(plays[0]?.above).toBeGreaterThan(100);
  expect(plays[0]?.below).toBeLessThan(1);
  expect(plays[1]?.above).toBe(0);
});

test('without WebGPU it says so, and offers the recording that the page names', async ({ baseURL }) => {
  const browser = await withoutWebGpu();
  const page = await browser.newPage();
  await page.goto(new URL(PAGE, baseURL).href);
  const chat = page.locator('#config-live outrider-chat');
  await chat.evaluate((node) => {
    node.setAttribute('model', 'target');
    node.setAttribute('trace', './traces/problem-2.jsonl');
  });
  await chat.getByRole('button', { name: 'Send' }).click();
  await expect(chat.getByRole('alert')).toContainText(/cannot run in this browser.*WebGPU/);
  await expect(chat.getByRole('button', { name: 'Try again' })).toHaveCount(0);
  await page.screenshot({ path: 'test-results/widget-no-webgpu.png' });
  await chat.getByRole('button', { name: 'Play a recording instead' }).click();
  await expect(chat.getByRole('log')).toContainText('The answer is 25.');
  await browser.close();
});
