// The tour: seven stops over a real run, by keyboard alone; live, and on recordings without WebGPU.
import { expect, type Page, test } from '@playwright/test';
import { withoutWebGpu } from './browser.ts';
import { open, stopOnceWritten } from './demo.ts';
import { paced } from './paced.ts';

const TITLES = [
  'Two lanes, one prompt',
  'Draft',
  'Verify',
  'Accept',
  'Corrected, or a bonus',
  'Speed-up',
  'Escalate',
] as const;

/** Texts of the stops, which contain figures of the run. */
const TEXTS = [
  /one pass of the target for each token: \d+ passes here/,
  /has guessed \d+ tokens: “/,
  /reads all \d+ drafts at once/,
  /The target accepts drafts .* here \d+, “.*The (\d+ after them are|one after them is) rejected/,
  /committed \d+ tokens for one pass/,
  /(\d× as fast as plain decoding|did not pay|Too short).*✓ The same \d+ tokens\. \d+ passes of the large model instead of \d+/,
  /[1-9]\d* fell below the threshold and w(as|ere) escalated/,
] as const;

const next = (page: Page) => page.locator('#tour-card').getByRole('button', { name: /^(Next|Done)/ });

/** `live`: on this machine. The last run of the tour is then stopped once, and made again. */
const walk = async (page: Page, live = false): Promise<void> => {
  await page.getByRole('button', { name: 'Tour' }).focus();
  await page.keyboard.press('Enter');
  const card = page.getByRole('dialog');
  for (const [i, title] of TITLES.entries()) {
    await expect(card).toHaveAccessibleName(title);
    await expect(card.getByRole('heading')).toBeFocused();
    await expect(page.locator('#tour-count')).toHaveText(`${i + 1} of ${TITLES.length}`);
    if (live && title === 'Escalate') {
      await expect(page.locator('#tour-text')).toHaveText(/^The run was stopped\./);
      await page.keyboard.press('ArrowLeft');
      await expect(next(page)).toBeEnabled();
      await page.keyboard.press('ArrowRight');
    }
    await expect(page.locator('#tour-text')).toHaveText(TEXTS[i] as RegExp);
    if (title === 'Speed-up')
      await expect(page.locator('#tour-text')).toContainText(live ? ' here' : ' where it was recorded');
    await expect(next(page)).toBeEnabled();
    await expect(page.locator('.toured')).toHaveCount(1);
    await expect(page.locator('.toured')).toBeInViewport();
    for (const own of ['#round-tree', '#round-tokens'].map((id) =>
      page.locator(`${id} :is(.cell.corrected, .cell.bonus)`),
    )) {
      if (['Draft', 'Verify', 'Accept'].includes(title)) await expect(own).toBeHidden(); // revealed by the next stop
      if (title.startsWith('Corrected')) await expect(own).toBeVisible();
    }
    const status = page.locator('#round-tokens td.status.rejected').first();
    if (title === 'Verify') await expect(status).toBeHidden();
    if (title === 'Accept') await expect(status).toBeVisible();
    const forward = (): Promise<void> => page.keyboard.press('ArrowRight');
    if (live && title === 'Speed-up') await stopOnceWritten(page, forward, '#count');
    else if (i < TITLES.length - 1) await forward();
  }
};

test('explains a live run by keyboard alone, and restores the focus', async ({ page }) => {
  await paced(page);
  await open(page, undefined, 'prompt-lookup');
  await walk(page, true);
  await expect(page.locator('.step.escalated s')).toBeVisible();
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('dialog')).toHaveAccessibleName('Speed-up');
  await expect(next(page)).toBeEnabled();
  await page.keyboard.press('ArrowLeft');
  await expect(page.getByRole('tab', { name: 'Inspect' })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.locator('.toured')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Tour' })).toBeFocused();
  await expect(page.locator('#system')).toHaveValue('prompt-lookup'); // as before the tour
});

test('explains recordings without WebGPU, on a phone', async ({ baseURL }) => {
  const browser = await withoutWebGpu();
  const page = await browser.newPage({ viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' });
  await page.goto(baseURL ?? '');
  await expect(page.locator('#device')).toContainText('Recorded on');
  await walk(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.screenshot({ path: 'test-results/page-tour-narrow.png', animations: 'disabled' });
  await expect(page.locator('#run-again')).toBeHidden(); // a recording cannot be run again
  await next(page).press('Enter');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await browser.close();
});
