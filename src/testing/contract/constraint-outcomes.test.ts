// How a constrained run ends when it cannot give a whole answer: each outcome has a name, and its sentence says what to do.
import { describe, expect, it } from 'vitest';
import type { Constraint } from '../../constraint/constraint.ts';
import type { DecodingSystem } from '../../decode/core/system.ts';
import autoregressive from '../../systems/autoregressive.ts';
import blockpilot from '../../systems/blockpilot.ts';
import { SYSTEMS } from '../../systems/index.ts';
import promptLookup from '../../systems/prompt-lookup.ts';
import type { EventOf } from '../../trace/index.ts';
import { lettersTokenizer } from '../toys/letters.ts';
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
