// How a constrained run ends when it cannot give a whole answer: each outcome has a name, and its sentence says what to do.
import { describe, expect, it } from 'vitest';
import type { Constraint } from '../../constraint/constraint.ts';
import type { DecodingSystem } from '../../decode/core/system.ts';
import type { RunRequest } from '../../engine/request.ts';
import autoregressive from '../../systems/autoregressive.ts';
import blockpilot from '../../systems/blockpilot.ts';
import combined from '../../systems/combined.ts';
import dflash from '../../systems/dflash.ts';
import { SYSTEMS } from '../../systems/index.ts';
import promptLookup from '../../systems/prompt-lookup.ts';
import suffixDecoding from '../../systems/suffix-decoding.ts';
import type { EventOf } from '../../trace/index.ts';
import { lettersTokenizer } from '../toys/letters.ts';
import type { ToyOptions } from '../toys/toy-model.ts';
import { toyEngine } from './system-contract.ts';

const LETTERS = [...'abc{}":1'];
const TOY = { vocabulary: LETTERS.length + 1, sharpness: 3 };
const STOP = [LETTERS.length];
const prompt = { tokens: [1, 2] };

const running = async (constraint: Constraint, system: DecodingSystem = autoregressive, maxTokens = 20) => {
  const { engine, run } = await toyEngine(system, TOY, STOP, lettersTokenizer(LETTERS));
  try {
    return (await run({ prompt, constraint, maxTokens })).at(-1) as EventOf<'done'>;
  } finally {
    await engine.close();
  }
};

describe('a constraint that cannot be kept', () => {
  const dead = 'no token of this model continues the answer as the constraint wants it';
  it.each<readonly [string, Constraint, string]>([
    ['a dead end at the first token', { choice: ['zzz'] }, dead],
    ['a dead end later', { regex: '(ab|ac)[xyz]' }, dead],
    ['a contradictory schema', { json_schema: { type: 'integer', minimum: 3, maximum: 2 } }, 'no number lies between'],
    ['a schema that allows nothing', { json_schema: false }, 'false allows no value'],
    ['an unsupported keyword', { json_schema: { type: 'array', contains: {} } }, 'contains is not supported'],
    ['a grammar with an error', { grammar: 'root ::= (' }, 'cannot be compiled: EBNF'],
  ])('%s is bad-constraint', async (_, constraint, message) => {
    await expect(running(constraint)).rejects.toMatchObject({
      code: 'bad-constraint',
      message: expect.stringContaining(message),
    });
  });
});

it('a budget that ends inside an object: the reason is length, and the answer says that it is not valid', async () => {
  const done = await running(
    { json_schema: { type: 'object', required: ['a'], properties: { a: { const: 1 } } } },
    autoregressive,
    4,
  );
  expect(done).toMatchObject({ finish_reason: 'length', constraint: { valid: false } });
  expect(done.text).toBe('{"a"');
});

it.each([promptLookup, blockpilot])(
  '$id: rounds that are only timed do not count among those that needed a mask',
  async (system) => {
    const { engine, run } = await toyEngine(system, TOY, STOP, lettersTokenizer(LETTERS));
    const masked = async () => {
      const events = await run({ prompt, constraint: { regex: '(ab|ca)+' }, maxTokens: 12 });
      return (events.at(-1) as EventOf<'done'>).constraint?.masked;
    };
    const first = await masked(); // it times rounds, because none was timed yet
    expect(first).toBeGreaterThan(0);
    expect(first).toBe(await masked());
    await engine.close();
  },
);

describe('a round that reaches past a stop string', () => {
  const id = (letter: string) => LETTERS.indexOf(letter);
  const past = async (system: DecodingSystem, request: Omit<RunRequest, 'system'>, toy: ToyOptions = TOY) => {
    const { engine, run } = await toyEngine(system, toy, STOP, lettersTokenizer(LETTERS));
    const knobs = system === autoregressive ? {} : { 'fall-back': 'off' };
    const events = await run({ ...request, knobs, maxTokens: 20 }).finally(() => engine.close());
    return events.at(-1) as EventOf<'done'>;
  };
  /** What was looked up is drafted whole; the model prefers `{`, which is never allowed. */
  const lookedUp = {
    prompt: { tokens: [...'ab:ab:ab:'].map(id) },
    logitBias: { [id('{')]: 9, [id('a')]: 3, [id('b')]: 3, [id(':')]: 2 },
  };
  const flat = { ...TOY, sharpness: 0.001 };

  it.each([suffixDecoding, combined])('$id: the answer has ended before a dead end', async (system) => {
    const request = { ...lookedUp, stop: [':'], constraint: { regex: 'abab?:é' } };
    const plain = await past(autoregressive, request, flat);
    expect(plain).toMatchObject({ finish_reason: 'stop', stop: ':', text: 'abab' });
    expect(await past(system, request, flat)).toMatchObject({ finish_reason: 'stop', stop: ':', text: 'abab' });
    const on = { ...request, stop: [] };
    await expect(past(system, on, flat)).rejects.toMatchObject({ code: 'bad-constraint' });
  });

  it.each([suffixDecoding, combined])('$id: draws after it do not count', async (system) => {
    const request = { ...lookedUp, stop: ['b'], constraint: { regex: '([ac][bc][:c])+' } };
    expect((await past(autoregressive, request, flat)).constraint).toMatchObject({ masked: 2 });
    expect((await past(system, request, flat)).constraint).toMatchObject({ masked: 2 });
  });

  it('the same where only the device knows the drafts', async () => {
    const exact = { ...TOY, noise: 0 };
    const request = { prompt: { tokens: [5] }, stop: [':a'], constraint: { regex: '[abc{}":1]{4}é' } };
    expect(await past(autoregressive, request)).toMatchObject({ finish_reason: 'stop', stop: ':a' });
    expect(await past(dflash, request, exact)).toMatchObject({ finish_reason: 'stop', stop: ':a' });
    await expect(past(dflash, { ...request, stop: [] }, exact)).rejects.toMatchObject({ code: 'bad-constraint' });
  });
});

it('log-probabilities of tokens without a choice do not depend on what the model drew there', async () => {
  const told = async (system: DecodingSystem, knobs = {}) => {
    const { engine, run } = await toyEngine(system, { ...TOY, noise: 0 }, STOP, lettersTokenizer(LETTERS));
    // Without the constraint the model ends the answer there too.
    const request = { prompt: { tokens: [7, 0] }, constraint: { regex: '[a:]{2}' }, logprobs: 1, knobs };
    const events = await run(request).finally(() => engine.close());
    return events.flatMap((event) => (event.type === 'commit' ? (event.logprobs ?? []) : []));
  };
  const plain = await told(autoregressive);
  expect(plain.map(({ text }) => text)).toEqual([':', 'a', '']);
  expect(plain.at(-1)).toMatchObject({ logprob: 0, top: [] });
  expect(await told(dflash, { 'fall-back': 'off' })).toEqual(plain);
});

const others = SYSTEMS.filter(({ group }) => group !== 'baseline' && group !== 'speculative');

describe('a system that asks several models', () => {
  it.each(others.map((system) => [system.id, system] as const))(
    '%s refuses, and names those that can',
    async (id, own) => {
      const system = { ...own, needs: [], also: undefined } as unknown as DecodingSystem;
      for (const constraint of [{ choice: ['ab'] }, { json_schema: true }] as const)
        await expect(running(constraint, system)).rejects.toMatchObject({
          code: 'bad-request',
          message: `${id} does not support a constraint`,
          hint: expect.stringContaining('Use `autoregressive` or a speculative system'),
        });
    },
  );
});
