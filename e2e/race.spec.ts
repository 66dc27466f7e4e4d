// The race: two lanes of one prompt, each run with the machine to itself, and a finish with the speed-up, the passes
// and whether the tokens are the same. Real runs of the bundled models, on one page.
import { expect, type Page, test } from '@playwright/test';
import { finished, history, open, ready, stopOnceWritten } from './demo.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await open(page, undefined, 'dflash');
});

test.afterAll(() => page.close());

const system = () => page.locator('#lane-system');
const plain = () => page.locator('#lane-plain');
const start = () => page.getByRole('button', { name: 'Race', exact: true }).click();
const about = () => page.locator('#finish-about');

/** “1.24 s” and “240 ms” in milliseconds. */
const timeOf = async (lane: ReturnType<typeof system>): Promise<number> => {
  const [, amount, unit] = /([\d.]+) (ms|s)$/.exec((await lane.locator('.lane-clock').textContent()) ?? '') ?? [];
  return Number(amount) * (unit === 's' ? 1000 : 1);
};

test('the system runs first, alone; then plain decoding runs live next to a replay of the system', async () => {
  const seen = await history(page, '#finish-about', '#answer', '#plain-answer');
  await start();
  await expect(about()).toContainText('as fast as plain decoding', { timeout: 240_000 });
  await finished(page);
  const all = await seen();
  const whole = all.at(-1)?.[1] ?? '';
  const first = all.filter(
    ([said]) => said === 'DFlash runs first, with the machine to itself. Then plain decoding runs.',
  );
  expect(first.some(([, system]) => system !== '')).toBe(true);
  expect(first.every(([, , plain]) => plain === '')).toBe(true);
  const then = all.filter(
    ([said]) => said === 'Now plain decoding runs live, next to a replay of DFlash at its measured speed.',
  );
  // Both lanes grow side by side: the system's starts again.
  expect(then.some(([, system = '', plain]) => plain !== '' && system !== '' && system.length < whole.length)).toBe(
    true,
  );
});

test('the finish has the speed-up, times, passes, acceptance length, and that the tokens are the same', async () => {
  await expect(about()).toHaveText(
    /^\d+\.\d\d× as fast as plain decoding \(\d.* against \d.* tokens\/s\); ✓ the same \d+ tokens\.$/,
  );
  const [mine, theirs] = [await timeOf(system()), await timeOf(plain())];
  const factor = Number((await page.locator('#finish-factor').textContent())?.replace('×', ''));
  expect(factor).toBeCloseTo(theirs / mine, 1);
  const facts = (await page.locator('#finish-facts').textContent()) ?? '';
  const [passes = 0, plainPasses = 0] = (/(\d+) target passes against (\d+)/.exec(facts) ?? []).slice(1).map(Number);
  expect(plainPasses).toBe(Number(await page.locator('#count').textContent()) - 1);
  expect(passes).toBeLessThan(plainPasses / 2);
  await expect(page.locator('#passes')).toHaveText(`${passes}`);
  const tau = await page.locator('#tau').textContent();
  await expect(page.locator('#finish-facts')).toContainText(`acceptance length ${tau}`);
  expect(await plain().locator('.text').textContent()).toBe(await system().locator('.text').textContent());
  await expect(plain().locator('.lane-facts')).toContainText(`${plainPasses} target passes`);
});

test('an earlier plain run of this session is replayed next to the live system', async () => {
  const before = await timeOf(plain());
  const seen = await history(page, '#finish-about', '#answer', '#plain-answer');
  await start();
  await finished(page);
  await expect(about()).toContainText('✓ the same');
  const replayed = (await seen()).filter(([said]) => said?.includes('replay of plain decoding from its earlier run'));
  const both = replayed.findIndex(([, system, plain]) => system !== '' && plain !== '');
  expect(both).toBeGreaterThanOrEqual(0);
  expect(replayed.at(-1)?.[1]).not.toBe(replayed[both]?.[1]); // live, while the other one is replayed
  expect(await timeOf(plain())).toBe(before);
});

test('lanes are side by side on a wide page and below each other on a phone', async () => {
  const box = async (lane: ReturnType<typeof system>) => (await lane.boundingBox()) ?? { x: 0, y: 0 };
  expect((await box(plain())).y).toBe((await box(system())).y);
  await page.screenshot({ path: 'test-results/page-race.png', fullPage: true, animations: 'disabled' });
  await page.setViewportSize({ width: 360, height: 740 });
  expect((await box(plain())).x).toBe((await box(system())).x);
  expect((await box(plain())).y).toBeGreaterThan((await box(system())).y);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.screenshot({ path: 'test-results/page-race-narrow.png', fullPage: true, animations: 'disabled' });
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('Stop ends a race in its second half, and the system’s text is whole again', async () => {
  await page.getByRole('button', { name: 'Shop' }).click();
  await stopOnceWritten(page, start, '#plain-answer');
  await expect(about()).toHaveText('The race was stopped.');
  await finished(page);
  await expect(system().locator('.text')).toContainText('The answer is');
  await expect(plain().locator('.lane-clock')).toContainText('■');
});

test('an answer needs no race: one lane, and no finish', async () => {
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  await expect(plain()).toBeHidden();
  await expect(page.locator('#finish-factor')).toBeEmpty();
});

test('plain decoding has no opponent: one lane', async () => {
  await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption({ label: 'Plain decoding' });
  await ready(page);
  await start();
  await finished(page);
  await expect(plain()).toBeHidden();
});
