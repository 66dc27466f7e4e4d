// Calibration on a page: the engine in its worker measures the draft, keeps the result in the origin's private file system,
// and finds it there after a reload; for these weights only.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
}

/** From the end of the list, as the page does: it is the beginning that is measured on. */
const questions = (JSON.parse(readFileSync(join(root, 'public/problems.json'), 'utf8')) as { question: string }[])
  .slice(-8)
  .map(({ question }) => question);

/** What SpecGuard goes by; after a calibration of its own, if that is asked for. */
const ranges = (page: Page, calibrate: boolean) =>
  page.evaluate(
    async ({ questions, calibrate }) => {
      const { connect } = (globalThis as unknown as Harness).outrider;
      const engine = connect();
      await engine.load({ target: 'draft', draft: 'draft' });
      const prompts = questions.map((content) => ({ messages: [{ role: 'user' as const, content }] }));
      let told = 0;
      const onProgress = () => told++;
      const made = calibrate ? await engine.calibrate({ prompts, maxTokens: 160, onProgress }) : null;
      const request = { system: 'specguard', prompt: prompts[0] ?? { tokens: [1] }, knobs: { k: 1 }, maxTokens: 4 };
      for await (const event of engine.run(request))
        if (event.type === 'calibration') {
          await engine.close();
          return { made, told, event };
        }
      throw new Error('the run told of no calibration');
    },
    { questions, calibrate },
  );

test('a calibration is made in the worker, kept, and found after a reload', async ({ page }) => {
  await using library = new WatchedServer(join(root, 'dist/harness'));
  await page.goto(await library.listen());
  await page.waitForFunction(() => 'outrider' in globalThis);
  const published = JSON.parse(readFileSync(join(root, 'public/models/draft/calibration.json'), 'utf8'));
  expect((await ranges(page, false)).event).toMatchObject({ calibrated: true, logprob: published.logprob });
  const { made, told, event } = await ranges(page, true);
  expect(made?.kept).toBe(true);
  expect(told).toBeGreaterThan(questions.length);
  expect(made?.calibration.logprob).not.toEqual(published.logprob);
  expect(event).toMatchObject({ calibrated: true, logprob: made?.calibration.logprob });
  await page.reload();
  await page.waitForFunction(() => 'outrider' in globalThis);
  expect((await ranges(page, false)).event).toMatchObject({ calibrated: true, logprob: made?.calibration.logprob });
});
