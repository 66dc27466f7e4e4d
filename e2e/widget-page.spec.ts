// The widget's page: five uses whose source is what runs; by keyboard, for screen readers, in both themes, from narrow to
// wide, and without WebGPU.
import { AxeBuilder } from '@axe-core/playwright';
import { chromium, expect, type Page, test } from '@playwright/test';
import { expectCalm } from './demo.ts';

const PAGE = '/widget.html';

const open = async (page: Page): Promise<readonly string[]> => {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(PAGE);
  await expect(page.locator('outrider-chat')).toHaveCount(6);
  return complaints;
};

/** The recording, to its end. */
const play = (page: Page): Promise<void> =>
  page.locator('#trace outrider-chat').evaluate(async (chat: HTMLElementTagNameMap['outrider-chat']) => {
    chat.speed = 2;
    await chat.send();
  });

test('shows the source that runs, and starts nothing by itself', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const complaints = await open(page);
  await page.waitForTimeout(500);
  expect(asked.filter((path) => /\/models\/|\/traces\/|worker/.test(path))).toEqual([]);
  expect(page.workers()).toHaveLength(0);
  for (const id of ['plain', 'themed', 'events', 'trace', 'pair']) {
    const tag = (text: string): string => /<outrider-chat[^>]*>/.exec(text)?.[0].replaceAll(/\s+/g, ' ') ?? id;
    const live = await page.locator(`#${id} .live`).evaluate((node) => node.innerHTML);
    const shown = (await page.locator(`#${id} pre`).textContent()) ?? '';
    expect(tag(live).replaceAll('=""', '')).toBe(tag(shown).replaceAll(/ (?=>)/g, ''));
  }
  expect(complaints).toEqual([]);
});

test('by keyboard: asks, stops, reads on; the page hears of every round', async ({ page }) => {
  const complaints = await open(page);
  const use = page.locator('#events');
  await use.getByRole('log').focus();
  await page.keyboard.press('Tab');
  const box = use.getByRole('textbox', { name: 'Message' });
  await expect(box).toBeFocused();
  expect(await box.evaluate((node) => getComputedStyle(node).outlineStyle)).toBe('solid');
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

for (const colorScheme of ['light', 'dark'] as const)
  test(`is accessible and fits every width, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    const complaints = await open(page);
    await play(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' '))}`)).toEqual([]);
    const background = (id: string): Promise<string> =>
      page
        .locator(`${id} outrider-chat`)
        .first()
        .evaluate((chat) => getComputedStyle(chat.shadowRoot?.querySelector('.panel') ?? chat).backgroundColor);
    expect(await background('#plain')).toBe(colorScheme === 'dark' ? 'rgb(23, 26, 31)' : 'rgb(255, 254, 251)');
    expect(await background('#themed')).toBe('rgb(16, 32, 28)'); // of its own, by a variable
    const send = page.locator('#themed').getByRole('button', { name: 'Send' });
    expect(await send.evaluate((node) => getComputedStyle(node).borderRadius)).toBe('32px'); // by a part
    await expect(page.locator('#themed')).toContainText('Answers are computed on your own graphics card.');
    for (const width of [360, 768, 1280, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      await page.screenshot({ path: `test-results/widget-${width}-${colorScheme}.png`, fullPage: true });
    }
    expect(complaints).toEqual([]);
  });

test('streaming does not disturb the page: no long task, enough frames, and no layout shift', async ({ page }) => {
  await open(page);
  const chat = page.locator('#plain outrider-chat');
  const question = await chat.getAttribute('prompt');
  expect(await chat.evaluate((node: HTMLElementTagNameMap['outrider-chat']) => node.load())).toBe(true);
  const box = chat.getByRole('textbox', { name: 'Message' });
  await expectCalm(page, '#plain outrider-chat [part=send]', () => box.fill(question ?? ''));
  await expect(chat.getByRole('log')).toContainText('The answer is 84.');
});

test('nothing moves while a recording is played', async ({ page }) => {
  await open(page);
  await expectCalm(page, '#trace outrider-chat [part=send]');
});

test('without WebGPU it says so, and offers the recording that the page names', async ({ baseURL, launchOptions }) => {
  const args = (launchOptions.args ?? []).filter((flag) => !/webgpu/.test(flag));
  const browser = await chromium.launch({ ...launchOptions, args: [...args, '--disable-features=WebGPUService'] });
  const page = await browser.newPage();
  await page.goto(new URL(PAGE, baseURL).href);
  const chat = page.locator('#plain outrider-chat');
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
