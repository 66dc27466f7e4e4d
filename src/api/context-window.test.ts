// A conversation that outgrows its context, over an engine whose context is 128 tokens.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../engine/engine.ts';
import { toyTextEngine } from '../testing/toys/text-engine.ts';
import type { EventOf, TraceEvent } from '../trace/index.ts';
import { withinContext } from './context-window.ts';

const CONTEXT = 128;
const SYSTEM = { role: 'system', content: 'Count.' };
const turn = (n: number) => [
  { role: 'user', content: `How many cups does Eva have, if she has ${n}?` },
  { role: 'assistant', content: `Eva has ${n} cups.` },
];
const QUESTION = { role: 'user', content: 'And now?' };

let engine: Engine;
beforeAll(async () => {
  engine = await toyTextEngine(CONTEXT);
});

/** The run that came of it: what it was asked, how many turns were left out, and how the answer ended. */
const run = async (turns: number, maxTokens?: number, question = QUESTION) => {
  const all = Array.from({ length: turns }, (_, i) => turn(i));
  const leftOut: number[] = [];
  const asked: (readonly { readonly content: string }[])[] = [];
  const events: TraceEvent[] = [];
  const ask = (seen: ReturnType<typeof turn>, limit: object) => {
    asked.push(seen);
    return engine.run({ prompt: { messages: [SYSTEM, ...seen, question] }, temperature: 1, seed: 1, ...limit });
  };
  for await (const event of withinContext(all, maxTokens, ask as Parameters<typeof withinContext<TraceEvent>>[2], (n) =>
    leftOut.push(n),
  ))
    events.push(event);
  const of = <Type extends TraceEvent['type']>(type: Type) =>
    events.find((event) => event.type === type) as EventOf<Type>;
  const written = events.flatMap((event) => (event.type === 'commit' ? event.tokens : [])).length;
  return { leftOut, seen: asked.at(-1) ?? [], prompt: of('run').prompt.length, written, end: of('done').finish_reason };
};

describe('a conversation at the end of the context', () => {
  it('is seen whole while it fits with its answer', async () => {
    const { leftOut, seen, written } = await run(2, 8);
    expect([leftOut, seen.length, written]).toEqual([[], 4, 8]);
  });

  it('loses its oldest turns whole, no more than it must, and never the system prompt', async () => {
    const { leftOut, seen, prompt, written } = await run(8, 30);
    const [dropped = 0] = leftOut;
    expect(leftOut).toHaveLength(1);
    expect(dropped).toBeGreaterThan(0);
    expect(seen).toEqual(
      Array.from({ length: 8 }, (_, i) => turn(i))
        .slice(dropped)
        .flat(),
    );
    expect(written).toBe(30);
    const oneMore = [SYSTEM, ...turn(dropped - 1), ...seen, QUESTION] as never;
    const longer = engine.run({ prompt: { messages: oneMore }, maxTokens: 30 })[Symbol.asyncIterator]();
    await expect(longer.next()).rejects.toMatchObject({ overflow: { context: CONTEXT } });
    expect(prompt + 30).toBeLessThanOrEqual(CONTEXT);
  });

  it('leaves a quarter of the context to an answer of no stated length, and takes more where there is more', async () => {
    const crowded = await run(8);
    expect(crowded.leftOut).toHaveLength(1);
    expect(crowded.written).toBeGreaterThanOrEqual(CONTEXT / 4);
    expect(crowded.prompt + crowded.written).toBe(CONTEXT);
    const alone = await run(0);
    expect([alone.leftOut, alone.prompt + alone.written]).toEqual([[], CONTEXT]);
  });

  it('fails where the question alone does not fit, with the numbers', async () => {
    const question = { role: 'user', content: 'How many cups? '.repeat(60) };
    await expect(run(2, undefined, question)).rejects.toMatchObject({ overflow: { context: CONTEXT } });
  });
});
