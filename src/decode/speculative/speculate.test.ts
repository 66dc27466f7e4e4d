// What rounds are taken to cost: the clock is moved by hand.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Cursor, Sampling } from '../../model/interface.ts';
import { toyLogits, toyModel } from '../../testing/toys/toy-model.ts';
import { chainOf } from '../core/chain.ts';
import type { Sequence } from '../core/system.ts';
import { Timings } from '../core/timings.ts';
import type { Drafter } from './drafter.ts';
import { speculate } from './speculate.ts';

const TOY = { vocabulary: 20, sharpness: 4 };
const GREEDY: Sampling = { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 0 };

let now = 0;
beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A cursor whose draws and alternatives take so many milliseconds. */
const timed = (cursor: Cursor, { draw, top }: { readonly draw: number; readonly top: number }): Cursor => {
  const forward: Cursor['forward'] = (tree) => {
    const pass = cursor.forward(tree);
    return {
      ...pass,
      draw: (...how) => {
        const drawn = pass.draw(...how);
        const read = () => {
          now += draw;
          return drawn.read();
        };
        return { ...drawn, read };
      },
      top: (...how) => {
        now += top;
        return pass.top(...how);
      },
    };
  };
  return Object.assign(Object.create(cursor), { forward });
};

/** Commits some rounds of a drafter; tells the roles that drafted. */
const rounds = async (count: number, drafter: Drafter, times: { readonly draw: number; readonly top: number }) => {
  const model = toyModel(TOY);
  const cursor = await model.open();
  const tokens = [1, 2, 3];
  await cursor.extend(tokens.slice(0, -1));
  const sequence: Sequence = {
    tokens,
    budget: 100,
    sampling: GREEDY,
    drafting: GREEDY,
    constraint: null,
    promptLength: 3,
    alternatives: 1,
  };
  const timings = new Timings();
  const drafted: string[] = [];
  const emit = (event: { readonly type: string }) => {
    if (event.type === 'draft') drafted.push(event.type);
  };
  const run = { timings, software: true, emit, sequence, models: { target: model } };
  const next = speculate(timed(cursor, times), drafter, run, { fallBack: true, drawn: false });
  const { signal } = new AbortController();
  for (let round = 1; round <= count; round++) tokens.push(...(await next({ sequence, round, emit, signal })).tokens);
  return { timings, drafted: drafted.length };
};

it('a plain round takes what its pass takes, without a draft that came to nothing and without alternatives', async () => {
  const drafter: Drafter = {
    by: 'lookup',
    propose() {
      now += 50;
      return null;
    },
    observe() {},
  };
  const { timings } = await rounds(8, drafter, { draw: 2, top: 100 });
  expect(timings.plain).toBe(2);
});

const likeliest = (text: readonly number[]): number => {
  const logits = toyLogits(TOY, text);
  return logits.indexOf(Math.max(...logits));
};

it('drafts go on being verified where the clock is too coarse to see a round', async () => {
  const drafter: Drafter = {
    by: 'lookup',
    propose({ tokens }) {
      const first = likeliest(tokens);
      const tree = chainOf([tokens.at(-1) as number, first, likeliest([...tokens, first])]);
      return { tree, distributions: null, chances: [1, 0.95, 0.9], nodes: 3, passes: 0 };
    },
    observe() {},
  };
  const { timings, drafted } = await rounds(30, drafter, { draw: 0, top: 0 });
  expect(timings.plain).toBeNull();
  expect(drafted).toBe(30);
});
