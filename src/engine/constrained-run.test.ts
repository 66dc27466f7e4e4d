// The first constraint downloads the grammar engine, which may take long.
import { expect, it, vi } from 'vitest';
import autoregressive from '../systems/autoregressive.ts';
import { toyEngine } from '../testing/contract/system-contract.ts';
import { lettersTokenizer } from '../testing/toys/letters.ts';
import type { TraceEvent } from '../trace/index.ts';

let arrive = (): void => {};
const download = new Promise<void>((resolve) => {
  arrive = resolve;
});
vi.mock('../constraint/xgrammar.ts', async (original) => {
  const real = await original<typeof import('../constraint/xgrammar.ts')>();
  return { ...real, loadXGrammar: () => download.then(real.loadXGrammar) };
});

it('an abort does not wait for the grammar engine, and the next constraint finds it', async () => {
  const tokenizer = lettersTokenizer([...'abc']);
  const { engine } = await toyEngine(autoregressive, { vocabulary: 4, sharpness: 5 }, [3], tokenizer);
  const ask = async (constrained: boolean, signal?: AbortSignal): Promise<TraceEvent[]> => {
    const events: TraceEvent[] = [];
    const constraint = constrained ? { constraint: { regex: '(a|b)+c' } } : {};
    const request = { prompt: { tokens: [1] }, maxTokens: 9, ...constraint };
    for await (const event of engine.run(request, signal)) events.push(event);
    return events;
  };
  const [aborted, other] = await Promise.all([ask(true, AbortSignal.timeout(20)), ask(false)]);
  expect(aborted).toMatchObject([{ type: 'done', finish_reason: 'aborted', text: null }]);
  expect(other.at(-1)).toMatchObject({ type: 'done' });
  arrive();
  expect((await ask(true)).at(-1)).toMatchObject({ type: 'done', constraint: { valid: expect.any(Boolean) } });
}, 20_000);
