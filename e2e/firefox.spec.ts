// Firefox has another compiler of shaders, subgroups of no known size, and looks for finished work ten times a second.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { findFirefox } from '../.ci/machine.mjs';
import { ALONE } from './demo.ts';
import { inFirefox } from './firefox.ts';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
}

const golden = join(root, '../shared/golden');
if (!findFirefox()) console.warn('\n*** Firefox is absent: the library in Firefox is SKIPPED ***\n');

test('Firefox writes the reference’s tokens, and waits for no timer between them', ALONE, async () => {
  test.skip(!findFirefox(), 'Firefox is absent');
  await using library = new WatchedServer(join(root, 'dist/harness'));
  await using models = new WatchedServer(join(root, 'public/models'));
  await using reference = new WatchedServer(golden);
  const base = await reference.listen();
  const names = existsSync(golden) ? ['llama-tiny', 'qwen3-tiny'] : [];
  const cases = names.map((name) => {
    const { prompt, greedy } = JSON.parse(readFileSync(join(golden, name, 'case.json'), 'utf8'));
    return { url: `${base}${name}/`, prompt, greedy };
  });
  const found = await inFirefox(
    await library.listen(),
    async ({ cases, models }) => {
      const { committedTokens, connect, createEngine } = (globalThis as unknown as Harness).outrider;
      const tiny = createEngine();
      const written: (readonly number[])[] = [];
      for (const { url, prompt, greedy } of cases) {
        await tiny.load({ target: { kind: 'url', url } }, { precision: 'f32' });
        const events = [];
        const request = { prompt: { tokens: prompt }, maxTokens: greedy.length, ignoreEos: true };
        for await (const event of tiny.run(request)) events.push(event);
        written.push(committedTokens(events));
      }
      await tiny.close();

      const engine = connect();
      const source = (name: string) => ({ kind: 'url', url: `${models}${name}/` }) as const;
      await engine.load({ target: source('target'), dflash: source('dflash') });
      const content = 'Eva has 3 cups. Eva buys 4 more cups. How many cups does Eva have now?';
      const run = async (system: 'autoregressive' | 'dflash') => {
        let text = '';
        let tokens = 0;
        const began = performance.now();
        for await (const event of engine.run({
          prompt: { messages: [{ role: 'user', content }] },
          system,
          maxTokens: 60,
        }))
          if (event.type === 'commit') {
            text += event.text;
            tokens += event.tokens.length;
          }
        return { text, ms: (performance.now() - began) / tokens };
      };
      await run('autoregressive');
      const [plain, speculative] = [await run('autoregressive'), await run('dflash')];
      await engine.close();
      return { written, plain, speculative };
    },
    { cases, models: await models.listen() },
  );
  expect(found.written).toEqual(cases.map(({ greedy }) => greedy));
  expect(found.plain.text).toContain('The answer is 7.');
  expect(found.speculative.text).toBe(found.plain.text);
  console.log(`plain decoding in Firefox: ${found.plain.ms.toFixed(1)} ms a token`);
  expect(found.plain.ms).toBeLessThan(80); // 100 ms and more without `Waits`
});
