// The stage: it plays recordings before any model is loaded, by pointer and keyboard, and stands still if asked to.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { fold, METRICS, type TraceEvent } from '../src/trace/index.ts';
import { ALONE, slowness, withoutModels } from './demo.ts';
import { root } from './server.ts';

test.describe.configure({ mode: 'serial' });

let page: Page;
const scene = (on = page) => on.locator('.scene.current');

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  await withoutModels(page);
  await page.goto('/');
  await expect(scene().locator('.tray').first()).toBeAttached(); // before that, a key does nothing
});
test.afterAll(() => page.close());

const at = (on = page) => on.getByRole('slider', { name: 'Position in the recording' });
const count = (lane: number) => scene().locator('.stage-count b').nth(lane);

const recording = (name: string): readonly TraceEvent[] =>
  readFileSync(join(root, 'public/traces', `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test(
  'a result is on the page within 3 seconds of a quiet machine, with no model loaded, and plays by itself',
  ALONE,
  async ({ page }) => {
    await withoutModels(page);
    const before = slowness();
    const began = performance.now();
    await page.goto('/');
    await expect(scene(page).locator('.chip.on').first()).toBeVisible();
    const shown = performance.now() - began;
    const slow = Math.max(before, slowness());
    const description = `${Math.round(shown)} ms, where a core is ${slow.toFixed(1)} times slower`;
    test.info().annotations.push({ type: 'first guess on the stage', description });
    expect(shown, description).toBeLessThan(3000 * slow);
    expect((await page.locator('.headline').textContent())?.match(/\p{L}+/gu)).toHaveLength(9);
    await expect(at(page)).toHaveAttribute('max', '12');
    await expect(page.locator('#lamp')).not.toHaveAttribute('data-state', 'ready');
    const from = Number(await at(page).inputValue());
    await expect.poll(async () => Number(await at(page).inputValue())).toBeGreaterThan(from);
  },
);

test('it ends on the speed-up and the passes of both lanes, whose texts are the same', async () => {
  await at().press('End');
  const sentence = (await scene().locator('.stage-end.on').textContent()) ?? '';
  const [, factor, passes, plain, drafts] =
    /^([\d.]+)× as fast .+ in this recording, word for word the same: (\d+) passes of the large model instead of (\d+), plus (\d+) of the drafter\.$/.exec(
      sentence,
    ) ?? [];
  const [run, alone] = [recording('problem-1'), recording('problem-1-plain')];
  const [mine, theirs] = [run, alone].map((events) => fold(METRICS.tokens_per_second, events) ?? 0);
  expect(Number(factor)).toBeCloseTo((mine ?? 0) / (theirs ?? 1), 2);
  expect(Number(drafts)).toBe(fold(METRICS.draft_passes, run));
  await expect(count(0)).toHaveText(`${plain}`);
  await expect(count(1)).toHaveText(`${passes}`);
  const texts = await scene().locator('.stage-text').allTextContents();
  expect(texts[0]).toBe(texts[1]);
  expect(texts[0]).toContain('The answer is');
  await expect(page.locator('#stage-play')).toHaveText('Play again');
});

test('the keyboard scrubs through guess, check, keep and correct', async () => {
  await at().press('Home');
  await expect(count(0)).toHaveText('0');
  const seen = new Set<string>();
  let swept = 0;
  for (let i = 0; i < 100 && seen.size < 4; i++) {
    await at().press('ArrowRight');
    swept += await scene().locator('.tray.sweeping').count();
    seen.add((await scene().locator('.captions .now .term').allTextContents()).join());
    seen.delete('');
  }
  expect([...seen]).toEqual(['guess', 'check in one pass', 'keep', 'correct']);
  expect(swept).toBeGreaterThan(0);
  await expect(scene().locator('.tray.on .chip.kept').first()).toBeVisible();
  await expect(scene().locator('.tray.on .chip.struck').first()).toBeVisible();
  await expect(scene().locator('.tray.on .chip.own.on')).toBeVisible();
});

test('Step goes from phase to phase, forward and back, and says what happens', async () => {
  const name = () => scene().locator('.captions .now .term').textContent();
  const says = page.locator('#stage-says');
  await at().press('Home');
  for (const [phase, said] of [
    ['guess', /^Round 1, guess\. Draft: /],
    ['check in one pass', /^Round 1, check in one pass\. Verify: /],
    ['keep', /^Round 1, keep\. Accept: /],
    ['correct', /^Round 1, correct\. Reject: /],
    ['guess', /^Round 2, guess\. Draft: /],
  ] as const) {
    await page.getByRole('button', { name: 'Step forward' }).press('Enter');
    expect(await name()).toBe(phase);
    await expect(says).toHaveText(said);
  }
  await page.getByRole('button', { name: 'Step back' }).press('Enter');
  expect(await name()).toBe('correct');
  await expect(scene().locator('.tray.on .chip.own.on')).toBeVisible();
  await expect(at()).toHaveAttribute('aria-valuetext', /^Round 1, correct, \d+\.\d\d of 12 seconds$/);
  for (let i = 0; i < 4; i++) await page.getByRole('button', { name: 'Step back' }).press('Enter');
  await expect(says).toHaveText('The beginning');
});

test('the first screen, in both themes', async () => {
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await at().fill('3');
    await expect(scene().locator('.chip.own.on')).toBeVisible();
    await page.screenshot({ path: `test-results/stage-${scheme}.png`, animations: 'disabled' });
  }
  await page.emulateMedia({ colorScheme: 'light' });
});

test('switching acts moves nothing; the judge’s slider recolours steps, moves ticks and totals the cost', async () => {
  const below = async () => (await page.locator('.ask').boundingBox())?.y;
  const before = await below();
  const width = async () => (await page.locator('#stage-acts').boundingBox())?.width;
  const wide = await width();
  await page.getByRole('radio', { name: 'hand off steps' }).check({ force: true });
  await expect(page.locator('#stage-title')).toHaveText('A small model writes; a judge calls the large one.');
  expect(await width()).toBe(wide);
  // Screen readers speak what is set there: the slider's result, and nothing while the act plays.
  await at().press('End'); // it pauses, also where the act has hardly begun
  await at().press('Home');
  await page.locator('#stage-play').click();
  const total = page.locator('#hand-total');
  await total.evaluate((node: HTMLElement) => {
    new MutationObserver(() => {
      node.dataset.set = 'yes';
    }).observe(node, { childList: true, characterData: true, subtree: true });
  });
  await expect.poll(async () => Number(await at().inputValue())).toBeGreaterThan(0.2);
  await expect(total).not.toHaveAttribute('data-set');
  await at().press('End');
  await expect(scene().locator('.hand.handed')).toContainText('27 + 18 = 45');
  await expect(page.locator('#hand-total')).toContainText('Answer 9: ✓ right');
  const strict = page.getByRole('slider', { name: 'How strict is the judge?' });
  const tick = () =>
    scene()
      .locator('.score-scale')
      .first()
      .evaluate((node) => node.style.getPropertyValue('--threshold'));
  const moderate = await tick();
  const written = async (lane: number) => Number(await count(lane).textContent());
  const all = await written(0);
  expect(await written(1)).toBeGreaterThan(0);
  expect(await written(1)).toBeLessThan(all);
  await expect(scene().locator('.stage-end.on')).toHaveText(
    new RegExp(
      `^\\d\\.\\d\\d× as fast .+, word for word the same this time: ${await written(1)} tokens of the large model instead of ${all}\\.$`,
    ),
  );
  await strict.press('Home');
  await expect(scene().locator('.hand.kept')).toHaveCount(3);
  await expect(page.locator('#hand-total')).toContainText('Answer 45: ✗ wrong');
  expect(await tick()).not.toBe(moderate);
  expect(await written(1)).toBe(0);
  await expect(scene().locator('.hand.other')).toContainText('would differ after a wrong step');
  await strict.press('End');
  await expect(scene().locator('.hand.handed')).toHaveCount(3);
  await expect(scene().locator('.hand.agreed')).toHaveText([/Step 1.*asked: it agreed/s, /Step 3.*asked: it agreed/s]);
  await expect(page.locator('#hand-total')).toContainText('Answer 9: ✓ right');
  expect(await written(1)).toBe(all);
  await expect(page.locator('#hand-total')).toContainText(/= \d+ ms, slower than \d+ ms alone\./);
  await page.getByRole('radio', { name: 'let models vote' }).check({ force: true });
  await expect(page.locator('#stage-title')).toHaveText(/^Three models vote/);
  await at().press('End');
  const [, plainPasses, passes] =
    /Passes of all models: (\d+)\..*Passes of all models: (\d+)\./s.exec((await scene().textContent()) ?? '') ?? [];
  expect([Number(plainPasses), Number(passes)]).toEqual(
    ['problem-6-plain', 'problem-6'].map((name) => fold(METRICS.passes, recording(name))),
  );
  const disagreement = scene().locator('.ballot').first();
  await expect(disagreement).toHaveText(/^A: (.+) \(\S+ %\) · B: (?!\1 ).+ · C: /);
  await expect(scene().locator('.stage-end.on')).toContainText('word for word the same');
  await expect(scene().locator('.stage-text [data-letter]').first()).toBeVisible();
  expect(await below()).toBe(before);
  await page.locator('#stage-progress').evaluate((node) => {
    node.textContent = 'A drafter with a long name, compiling shaders: 2 of 60 '.repeat(3);
  });
  expect(await below()).toBe(before);
  await page.screenshot({ path: 'test-results/stage-vote.png', animations: 'disabled' });
});

test('no text box of an act has more than 48 px of empty room, and no part is wider than a phone', async () => {
  for (const width of [360, 768, 1280, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const act of ['guess tokens', 'hand off steps', 'let models vote']) {
      await page.getByRole('radio', { name: act }).check({ force: true });
      await at().press('End');
      const holes = await scene()
        .locator('.stage-text, .hand, .trays')
        .evaluateAll((boxes) =>
          boxes.map((box) => {
            const range = document.createRange();
            const texts = [...box.querySelectorAll('span, p')].filter(
              (node) => node.childElementCount === 0 && node.checkVisibility({ visibilityProperty: true }),
            );
            const bottoms = texts.flatMap((node) => {
              range.selectNodeContents(node);
              return [...range.getClientRects()].map(({ bottom }) => bottom);
            });
            return box.getBoundingClientRect().bottom - Math.max(...bottoms);
          }),
        );
      expect(Math.max(...holes), `${act}, ${width} px`).toBeLessThan(48);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('an act that is chosen while its recording is fetched is there once', async ({ browser }) => {
  const slow = await browser.newPage();
  await withoutModels(slow);
  let serve = (): void => {};
  const served = new Promise<void>((resolve) => {
    serve = resolve;
  });
  let held = 0;
  await slow.route('**/traces/problem-4.jsonl', async (route) => {
    held++;
    await served;
    await route.continue();
  });
  await slow.goto('/');
  await expect.poll(() => held).toBe(1);
  await slow.getByRole('radio', { name: 'hand off steps' }).check({ force: true });
  serve();
  await expect(scene(slow)).toHaveAttribute('data-act', 'hand-off');
  await expect(slow.locator('.scene[data-act=vote]')).toHaveCount(1);
  await expect(slow.locator('.scene[data-act=hand-off]')).toHaveCount(1);
  await slow.close();
});

test('where reduced motion is wanted it shows its end, and fits a phone', async ({ browser }) => {
  const still = await browser.newPage({ viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' });
  await withoutModels(still);
  await still.goto('/');
  await expect(still.locator('.stage-end.on')).toBeVisible();
  await expect(still.locator('#stage-play')).toHaveText('Play again');
  expect(await still.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await still.close();
});
