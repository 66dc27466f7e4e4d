// The demo page on one load of the bundled target and its drafter: an answer, Stop, the keyboard, screenshots.
import { expect, type Page, test } from '@playwright/test';
import { answer, finished, open, stopOnceWritten } from './demo.ts';
import { paced } from './paced.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;
const strangers: string[] = [];

test.beforeAll(async ({ browser, baseURL }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(baseURL ?? '') && !/^(data|blob):/.test(url)) strangers.push(url);
  });
  await paced(page);
  await open(page);
});

test.afterAll(() => page.close());

test('a bundled problem is answered correctly', async () => {
  await page.getByRole('button', { name: 'Trees' }).click();
  await expect(page.locator('#truth')).toHaveText('Correct answer: 52');
  await answer(page);
  await expect(page.locator('#answer')).toContainText('The answer is 52.');
  await expect(page.locator('#verdict')).toHaveText('✓ Correct: 52');
  await expect(page.locator('#speed')).toHaveText(/^\d+(\.\d)?$/);
  await expect(page.locator('#first')).toHaveText(/^\d+ ms$|^\d+\.\d+ s$/);
  await expect(page.locator('#status')).toHaveText(/^The answer finished\. ✓ Correct: 52\. In 5 days/);
  await expect(page.locator('#device')).toContainText(/swiftshader/i);
  const limit = page.locator('#max-tokens');
  await limit.evaluate((input: HTMLInputElement) => {
    input.value = '5';
  });
  await answer(page);
  await expect(page.locator('#status')).toHaveText(/^The answer reached the token limit\. In 5/);
  await limit.evaluate((input: HTMLInputElement) => {
    input.value = input.defaultValue;
  });
});

for (const scheme of ['light', 'dark'] as const)
  test(`looks as in the picture, ${scheme}`, async () => {
    if (scheme === 'dark') await page.getByRole('button', { name: /light and dark/ }).click();
    await expect(page.locator('html')).toHaveAttribute('data-theme', scheme);
    await page.screenshot({ path: `test-results/page-${scheme}.png`, fullPage: true, animations: 'disabled' });
  });

test('the theme follows the system until one is chosen', async ({ browser }) => {
  const other = await (await browser.newContext({ colorScheme: 'light' })).newPage();
  const html = other.locator('html');
  await other.goto('./benchmark.html');
  await other.emulateMedia({ colorScheme: 'dark' });
  await expect(html).toHaveAttribute('data-theme', 'dark');
  await other.getByRole('button', { name: /light and dark/ }).click();
  await expect(html).toHaveAttribute('data-theme', 'light');
  await other.emulateMedia({ colorScheme: 'light' });
  await other.emulateMedia({ colorScheme: 'dark' });
  await other.waitForTimeout(300);
  await expect(html).toHaveAttribute('data-theme', 'light');
  const guide = await other.context().newPage();
  await guide.goto('./repository/docs/guide/getting-started.html');
  await expect(guide.locator('html')).toHaveAttribute('data-theme', 'light'); // as chosen on the other page
  await guide.getByRole('button', { name: /light and dark/ }).click();
  await expect(guide.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect(html).toHaveAttribute('data-theme', 'dark');
  await other.context().close();
});

test('Stop ends a run at once, and the next one starts', async () => {
  await page.getByRole('button', { name: 'Pick another' }).click();
  await stopOnceWritten(page, () => page.getByRole('button', { name: 'Answer' }).click(), '#count');
  await finished(page);
  await expect(page.locator('#verdict')).toHaveText('The answer was stopped');
});

test('the keyboard alone is enough', async () => {
  await page.getByLabel('Problem for the model').focus();
  await stopOnceWritten(page, () => page.keyboard.press('Control+Enter'), '#count', '#go', 'Escape');
  await finished(page);
  await expect(page.locator('#verdict')).toHaveText('The answer was stopped');
  await page.getByLabel('Problem for the model').focus();
  await page.keyboard.press('Tab');
  const button = page.getByRole('button', { name: 'Answer' });
  await expect(button).toBeFocused();
  expect(await button.evaluate((node) => getComputedStyle(node).outlineStyle)).toBe('solid');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  await expect(page.getByRole('button', { name: 'Pick another' })).toBeFocused();
});

test('a narrow screen needs no sideways scrolling', async () => {
  await answer(page);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.screenshot({ path: 'test-results/page-narrow.png', fullPage: true, animations: 'disabled' });
});

test('no other server received a request', () => {
  expect(strangers).toEqual([]);
});
