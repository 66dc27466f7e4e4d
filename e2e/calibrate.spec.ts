// Calibration on a page: the engine in its worker measures the draft, stores the result in the origin's private file
// system, and finds it there after a reload, for the same weights only.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
}

/** From the end of the list, as on the page; measurements use its beginning. */
const questions = (JSON.parse(readFileSync(join(root, 'public/problems.json'), 'utf8')) as { question: string }[])
  .slice(-6)
  .map(({ question }) => question);

/** The ranges that SpecGuard uses; `calibrate`: before and after a calibration. */
const ranges = (page: Page, calibrate: boolean) =>
  page.evaluate(
    async ({ questions, calibrate }) => {
      const { connect } = (globalThis as unknown as Harness).outrider;
      const engine = connect();
      await engine.load({ target: 'draft', draft: 'draft' });
      const prompts = questions.map((content) => ({ messages: [{ role: 'user' as const, content }] }));
      const request = { system: 'specguard', prompt: prompts[0] ?? { tokens: [1] }, knobs: { k: 1 }, maxTokens: 4 };
      const used = async () => {
        for await (const event of engine.run(request)) if (event.type === 'calibration') return event;
        throw new Error('the run had no calibration event');
      };
      const before = await used();
      if (!calibrate) return { before };
      let reports = 0;
      const onProgress = () => reports++;
      const made = await engine.calibrate({ prompts, maxTokens: 160, onProgress });
      const after = await used();
      await engine.close();
      return { before, made, reports, after };
    },
    { questions, calibrate },
  );

test('a calibration is made in the worker, stored, and found after a reload', async ({ page }) => {
  await using library = new WatchedServer(join(root, 'dist/harness'));
  await page.goto(await library.listen());
  await page.waitForFunction(() => 'outrider' in globalThis);
  const published = JSON.parse(readFileSync(join(root, 'public/models/draft/calibration.json'), 'utf8'));
  const { before, made, reports, after } = await ranges(page, true);
  expect(before).toMatchObject({ calibrated: true, logprob: published.logprob });
  expect(made?.kept).toBe(true);
  expect(reports).toBeGreaterThan(questions.length);
  expect(made?.calibration.logprob).not.toEqual(published.logprob);
  expect(after).toMatchObject({ calibrated: true, logprob: made?.calibration.logprob });
  await page.reload();
  await page.waitForFunction(() => 'outrider' in globalThis);
  expect((await ranges(page, false)).before).toMatchObject({ calibrated: true, logprob: made?.calibration.logprob });
});
