// The race: two lanes of one prompt, each run with the machine to itself, and a finish with the speed-up, the passes
// and whether the tokens are the same. Real runs of the bundled models, on one page.
import { expect, type Page, test } from '@playwright/test';
import { advanced, finished, history, loaded, meanwhile, open, PENS, ready, stopOnceWritten } from './demo.ts';
import { hold, paced, release } from './paced.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await paced(page);
  await open(page, undefined, 'dflash');
  await page.getByLabel('Problem for the model').fill(PENS);
  await advanced(page);
  await page.getByLabel('Plain decoding where drafting loses time').selectOption('off'); // it decides by times
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

test('each runs once to warm up, then three times in turn, then both are shown at their measured speeds', async () => {
  const seen = await history(page, '#finish-about', '#answer', '#plain-answer', '#status');
  // All its runs have the settings it began with, whatever is chosen meanwhile.
  const choice = page.getByRole('combobox', { name: 'Decoding', exact: true });
  await choice.selectOption('prompt-lookup');
  await page.getByRole('slider', { name: 'Longest match, tokens' }).press('ArrowRight');
  await choice.selectOption('dflash');
  await meanwhile(page, '#finish-about', /^Timing run 2/, { values: { '#system': 'prompt-lookup' } });
  await start();
  await expect(about()).toContainText(/plain decoding here/, { timeout: 240_000 });
  await finished(page);
  const all = await seen();
  const said = [...new Set(all.map(([text]) => text))];
  const timing = said.filter((text) => text?.startsWith('Timing run'));
  expect(timing).toEqual(
    [1, 2, 3, 4, 5, 6].map((i) => `Timing run ${i} of 6: ${i % 2 === 1 ? 'DFlash' : 'plain decoding'}.`),
  );
  // A screen reader is told the answer once, though it is written twice on the page.
  const status = all.map(([, , , text = '']) => text).filter((text, i, told) => text !== told[i - 1]);
  expect(status.filter((text) => text.includes('The answer is'))).toHaveLength(1);
  const warm = all.filter(([text]) => text === 'Warming up: DFlash runs first, then plain decoding.');
  const first = warm.findIndex(([, system]) => system !== '');
  expect(warm[first]?.[2]).toBe(''); // each has the machine to itself
  // Both lanes grow side by side at the end.
  const whole = all.at(-1)?.[1] ?? '';
  const last = all.filter(([text]) => text === 'Both again, at their measured speeds.');
  expect(last.some(([, system = '', plain]) => plain !== '' && system !== '' && system.length < whole.length)).toBe(
    true,
  );
  await expect(choice).toHaveValue('prompt-lookup');
  await choice.selectOption('dflash');
});

test('the finish leads with the speed, says that the tokens are the same, and gives passes and times', async () => {
  await expect(about()).toHaveText(
    /^as fast as plain decoding here, after the first token \(median of 3, from \d+\.\d\d to \d+\.\d\d\)\. ✓ The same \d+ tokens\.$/,
  );
  const [passes, plainPasses, drafts] =
    /^(\d+) passes of the large model instead of (\d+), plus (\d+) of the drafter\.$/
      .exec((await page.locator('#finish-passes').textContent()) ?? '')
      ?.slice(1)
      .map(Number) ?? [];
  expect(plainPasses).toBe(Number(await page.locator('#count').textContent()) - 1);
  expect(passes).toBeLessThan((plainPasses ?? 0) / 2);
  expect(drafts).toBe(passes); // DFlash drafts a block in one pass
  await expect(page.locator('#passes')).toHaveText(`${passes}`);
  const [mine, theirs] = [await timeOf(system()), await timeOf(plain())];
  const factor = Number.parseFloat((await page.locator('#finish-factor').textContent()) ?? '');
  expect(factor).toBeCloseTo(theirs / mine, 1);
  const [whole, wholePlain, wholeFactor] =
    /whole answer ([\d.]+ m?s) against ([\d.]+ m?s) \(([\d.]+)×\)/
      .exec((await page.locator('#finish-facts').textContent()) ?? '')
      ?.slice(1)
      .map((text) => Number.parseFloat(text) * (/[\d.]+ s$/.test(text) ? 1000 : 1)) ?? [];
  expect(whole).toBeGreaterThan(mine); // the prompt is read too
  expect(wholeFactor).toBeCloseTo((wholePlain ?? 0) / (whole ?? 1), 1);
  const tau = await page.locator('#tau').textContent();
  await expect(page.locator('#finish-facts')).toContainText(`acceptance length ${tau}`);
  expect(await plain().locator('.text').textContent()).toBe(await system().locator('.text').textContent());
  await expect(plain().locator('.lane-facts')).toContainText(`${plainPasses} target passes`);
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

test('in Inspect a race has probabilities from its warm-up, and is run again with kernel times if asked for', async () => {
  const probabilities = (): Promise<string[]> =>
    page.locator('#round-tokens td:nth-of-type(4)').filter({ hasText: /%/ }).allTextContents();
  await page.getByRole('tab', { name: 'Inspect' }).click();
  await expect(page.locator('#details-about')).not.toContainText('recorded no probabilities');
  expect((await probabilities()).length).toBeGreaterThan(0);
  await expect(page.locator('#kernels-about')).toContainText(/\d+ dispatches, \d+ submits?, \d+ readbacks?/);
  await page.getByLabel(/Time each kernel/).check();
  await page.getByRole('button', { name: 'Run again with probabilities' }).click();
  await expect(page.locator('#details-about')).not.toContainText('recorded no probabilities');
  expect((await probabilities()).length).toBeGreaterThan(0);
  await expect(page.locator('#kernels-about')).toContainText(/\d+\.\d ms in kernels/);
  expect(await page.locator('.kernel-bars li').count()).toBeGreaterThan(3);
  await page.screenshot({ path: 'test-results/page-inspect.png', fullPage: true, animations: 'disabled' });
  // It repeats that run's problem, whatever the box contains now.
  const repeated = await page.locator('#inspect-text').textContent();
  const problem = await page.locator('#problem').inputValue();
  for (const other of ['A ball costs 6 dollars. How many dollars do 7 balls cost?', '']) {
    await page.getByRole('tab', { name: 'Race' }).click();
    await page.locator('#problem').fill(other);
    await page.getByRole('tab', { name: 'Inspect' }).click();
    await page.getByLabel(/Time each kernel/).click(); // off, then on
    await page.getByRole('button', { name: 'Run again with probabilities' }).click();
    const timed = expect(page.locator('#kernels-about'));
    await (other ? timed.not : timed).toContainText(/ ms in kernels/);
    await expect(page.locator('#inspect-text')).toHaveText(repeated ?? '');
    expect(await page.locator('#problem').inputValue()).toBe(other || problem);
  }
  await expect(page.getByRole('alert')).toBeHidden();
  await page.getByLabel(/Time each kernel/).uncheck();
  await page.getByRole('tab', { name: 'Race' }).click();
});

test('Escape closes the menu of traces, and ends a race where none is open', async () => {
  await page.getByRole('button', { name: 'Shop' }).click();
  await hold(page);
  await start();
  await page.locator('#trace-menu').click();
  await expect(page.locator('#trace')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('#trace')).toBeHidden();
  await expect(page.locator('#go')).toHaveText('Stop');
  await hold(page, '#finish-about', /^Timing run/);
  await release(page);
  await expect(about()).toHaveText(/^Timing run/); // it goes on
  await page.keyboard.press('Escape');
  await release(page);
  await expect(about()).toHaveText('The race was stopped.');
  await expect(page.locator('#status')).toHaveText('The race was stopped.');
  await finished(page);
});

test('Stop ends a race in its second half, and the system’s text is whole again', async () => {
  await page.getByRole('button', { name: 'Shop' }).click();
  await stopOnceWritten(page, start, '#plain-answer');
  await expect(about()).toHaveText('The race was stopped.');
  await finished(page);
  await expect(system().locator('.text')).toContainText('The answer is');
  await expect(plain().locator('.lane-clock')).toContainText('■');
});

test('an answer needs no race: one lane, and no finish; a double click starts it and does not stop it', async () => {
  await hold(page);
  await page.getByRole('button', { name: 'Answer' }).dblclick();
  await release(page);
  await finished(page);
  await expect(page.locator('#status')).toContainText('The answer finished.');
  await expect(plain()).toBeHidden();
  await expect(page.locator('#finish-passes')).toBeEmpty();
});

test('another problem clears the last verdict and answer', async () => {
  await expect(page.locator('#verdict')).not.toBeEmpty();
  await page.getByRole('button', { name: 'Trees' }).click();
  await expect(page.locator('#verdict')).toBeEmpty();
  await expect(page.locator('#answer')).toBeEmpty();
});

test('plain decoding has no opponent: one lane', async () => {
  await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption({ label: 'Plain decoding' });
  await ready(page);
  await start();
  await finished(page);
  await expect(plain()).toBeHidden();
});

test('Run all ends where it is stopped, and where another problem or system is chosen', async () => {
  const [all, said] = [page.locator('#all-go'), page.locator('#all-about')];
  const first = page.locator('.all-system small').first();
  await page.getByRole('button', { name: 'Shop' }).click();
  await stopOnceWritten(page, () => all.click(), '#count', '#all-go');
  await expect(said).toHaveText(/^0 of \d+ systems have run\.$/);
  await finished(page);

  await meanwhile(page, '#count', /^[1-9]/, { click: '#examples button' });
  await all.click();
  await expect(said).toHaveText(/^1 of \d+ systems have run\. Click/);
  await expect(first).toHaveText(/^✓ \d/);
  await expect(page.locator('#answer')).toBeEmpty(); // it answers another problem

  let serve = (): void => {};
  const served = new Promise<void>((resolve) => {
    serve = resolve;
  });
  await page.context().route('**/models/draft/**', async (route) => {
    await served;
    await route.continue();
  });
  const choice = page.getByRole('combobox', { name: 'Decoding', exact: true });
  await all.click();
  await expect(said).toHaveText(/^2 of \d+: Draft model$/);
  await expect(page.locator('#phase')).toContainText('draft model');
  await choice.selectOption('prompt-lookup');
  serve();
  await expect(said).toHaveText(/^1 of \d+ systems have run\. Click/);
  await expect(choice).toHaveValue('prompt-lookup');
  await page.context().unroute('**/models/draft/**');
});

test('Run all and the stage say why nothing can run, and Stop ends their waiting for a load', async () => {
  const [all, said] = [page.locator('#all-go'), page.locator('#all-about')];
  await page.locator('#problem').fill('');
  await all.click();
  await expect(said).toHaveText('There is no problem to solve. Write one or choose an example.');
  await expect(all).toHaveText('Run all');
  await page.getByRole('button', { name: 'Trees' }).click();
  await page.context().route('**/models/eagle3/**', () => {}); // never answered
  await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption('eagle3');
  await all.click();
  await expect(all).toHaveText('Stop');
  await all.click();
  await expect(said).toHaveText('Stopped.');
  await expect(all).toHaveText('Run all');
  await all.click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(said).toHaveText('No model is loaded. Choose a model.');
  await expect(all).toHaveText('Run all');
  await page.locator('#stage-go').click();
  await expect(page.locator('#fault')).toContainText('No model is loaded. Choose a model.');
  await page.context().unroute('**/models/eagle3/**');
});

test('a link to a system whose drafter is not loaded says so, and so does the status of a run that failed', async ({
  browser,
}) => {
  const alone = await browser.newPage();
  await alone.goto('/?model=draft&system=dflash');
  await loaded(alone);
  await expect(alone.locator('#about')).toContainText('The link names DFlash, which needs a DFlash drafter.');
  await expect(alone.locator('#system')).toHaveValue('autoregressive');
  await alone.locator('#problem').fill('Eva has 3 cups. '.repeat(1000));
  await alone.getByRole('button', { name: 'Answer' }).click();
  await expect(alone.locator('#fault')).toContainText('exceed the context');
  await expect(alone.locator('#status')).toHaveText('The run failed.');
  await alone.close();
});
