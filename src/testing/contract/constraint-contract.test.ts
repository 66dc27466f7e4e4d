// What every exact system promises under a constraint: the tokens of constrained plain decoding, greedy and sampled; the
// target's distribution, filtered and then restricted to what the constraint allows; and answers that fulfil it.
import { describe, expect, it } from 'vitest';
import type { Constraint } from '../../constraint/constraint.ts';
import { distributionReference } from '../../kernels/sampling/sample.reference.ts';
import autoregressive from '../../systems/autoregressive.ts';
import { committedTokens, type EventOf, type TraceEvent } from '../../trace/index.ts';
import { lettersTokenizer } from '../toys/letters.ts';
import { type ToyOptions, toyLogits } from '../toys/toy-model.ts';
import { EXACT, isSpeculative, variantsOf } from './exact-systems.ts';
import { distance, toyEngine } from './system-contract.ts';

const TOKENS = [...'abcdefgh{}":, 0123', 'ab', 'cd', '"a', '": ', ', "', 'ba', '{"', 'ef'];
const tokenizer = lettersTokenizer(TOKENS);
const STOP = TOKENS.length;
const TOY = { vocabulary: TOKENS.length + 1, sharpness: 5 };

const CONSTRAINTS: Readonly<Record<string, { constraint: Constraint; fulfils: (text: string) => boolean }>> = {
  schema: {
    constraint: {
      json_schema: {
        type: 'object',
        properties: { ab: { type: 'integer', minimum: 0, maximum: 33 }, cd: { enum: ['a', 'ba', 'bad'] } },
        required: ['ab', 'cd'],
      },
    },
    fulfils: (text) => {
      const { ab, cd } = JSON.parse(text);
      return Number.isInteger(ab) && ab >= 0 && ab <= 33 && ['a', 'ba', 'bad'].includes(cd);
    },
  },
  regex: { constraint: { regex: '(ab|ba){2,5}cdef(0|1)+' }, fulfils: (text) => /^(ab|ba){2,5}cdef[01]+$/.test(text) },
  choice: {
    constraint: { choice: ['abcdef', 'abcfed', 'ba'] },
    fulfils: (text) => ['abcdef', 'abcfed', 'ba'].includes(text),
  },
  grammar: {
    constraint: { grammar: 'root ::= "{" root? "}" | letter+\nletter ::= [a-d]' },
    fulfils: (text) => /^\{*[a-d]*\}*$/.test(text) && text.length > 0,
  },
};

const doneOf = (events: readonly TraceEvent[]): EventOf<'done'> => events.at(-1) as EventOf<'done'>;

const logprobsOf = (events: readonly TraceEvent[]) =>
  events.flatMap((event) => (event.type === 'commit' ? (event.logprobs ?? []) : []));

const SYSTEMS = EXACT.filter(({ group }) => group === 'speculative')
  .filter(isSpeculative)
  .flatMap(variantsOf)
  .map(({ system, knobs }) => ({
    system,
    name: `${system.id} ${JSON.stringify(knobs)}`,
    // The toys' blocks are smaller than those of real drafters.
    knobs: Object.fromEntries(Object.entries(knobs).filter(([name]) => system.knobs[name]?.kind === 'choice')),
  }));

describe('constrained plain decoding', () => {
  it.each(Object.keys(CONSTRAINTS))('%s: every complete answer fulfils it, and says so', async (name) => {
    const { constraint, fulfils } = CONSTRAINTS[name] as (typeof CONSTRAINTS)[string];
    const { engine, run } = await toyEngine(autoregressive, TOY, [STOP], tokenizer);
    let complete = 0;
    for (let seed = 0; seed < 40; seed++) {
      const events = await run({ prompt: { tokens: [seed % 8] }, maxTokens: 60, temperature: 1, seed, constraint });
      const done = doneOf(events);
      expect(done.constraint?.valid).toBe(done.finish_reason === 'stop');
      if (done.finish_reason !== 'stop') continue;
      complete++;
      expect(fulfils(done.text ?? ''), done.text ?? '').toBe(true);
    }
    await engine.close();
    expect(complete).toBeGreaterThan(20);
  });
});

describe.each(SYSTEMS)('$name under a constraint', ({ system, knobs }) => {
  let drafted = 0;
  it.each(Object.keys(CONSTRAINTS))(
    '%s: the tokens of constrained plain decoding, greedy and sampled',
    async (name) => {
      const { constraint } = CONSTRAINTS[name] as (typeof CONSTRAINTS)[string];
      const plain = await toyEngine(autoregressive, TOY, [STOP], tokenizer);
      const own = await toyEngine(system, TOY, [STOP], tokenizer);
      for (let seed = 0; seed < 24; seed++) {
        const filters = [{}, { topK: 5 }, { topP: 0.6 }, { minP: 0.1 }][seed % 4];
        const request = {
          prompt: { tokens: [seed % 7, (3 * seed) % 5] },
          maxTokens: 6 + (seed % 3) * 12,
          temperature: seed < 8 ? 0 : 0.9,
          seed,
          constraint,
          logprobs: seed % 3,
          ...filters,
        };
        const events = await own.run({ ...request, knobs });
        const expected = await plain.run(request);
        expect(committedTokens(events), `seed ${seed}`).toEqual(committedTokens(expected));
        expect(logprobsOf(events), `seed ${seed}`).toEqual(logprobsOf(expected));
        const { text, finish_reason, constraint: outcome } = doneOf(expected);
        expect(doneOf(events)).toMatchObject({ text, finish_reason });
        const { valid, forced, masked } = outcome as NonNullable<typeof outcome>;
        expect(doneOf(events).constraint).toMatchObject({ valid, forced, masked });
        for (const event of events)
          if (event.type === 'commit') drafted += event.source.filter((source) => source === 'drafted').length;
      }
      await plain.engine.close();
      await own.engine.close();
    },
  );

  it('kept drafts among them', () => {
    expect(drafted).toBeGreaterThan(0);
  });
});

/** Of three letters and the end: every answer and its exact probability, by brute force. */
const SMALL = ['a', 'b', 'c'];
const SMALL_TOY = { vocabulary: 4, sharpness: 3 };
const PATTERN = /^(a(b|c)|b[abc]|c(a|b))(a|c)$/;
const REGEX = '(a(b|c)|b[abc]|c(a|b))(a|c)';

const bruteForce = (sampling: { temperature: number; topK: number; topP: number; minP: number }) => {
  const texts = SMALL.flatMap((x) => SMALL.flatMap((y) => SMALL.map((z) => x + y + z))).filter((text) =>
    PATTERN.test(text),
  );
  const ids = (text: string): number[] => [...text].map((letter) => SMALL.indexOf(letter));
  const result = new Map<string, number>();
  for (const text of texts) {
    let probability = 1;
    for (let i = 0; i < text.length; i++) {
      const possible = (token: number): boolean =>
        texts.some((each) => each.startsWith(text.slice(0, i) + SMALL[token]));
      const logits = toyLogits(SMALL_TOY, [1, 2, ...ids(text.slice(0, i))]);
      let masses = distributionReference(logits, sampling).map((mass, token) => (possible(token) ? mass : 0));
      if (masses.every((mass) => mass === 0)) {
        const best = logits.map((logit, token) => (possible(token) ? logit : -Infinity));
        masses = best.map((logit) => Number(logit === Math.max(...best)));
      }
      const total = masses.reduce((a, b) => a + b, 0);
      probability *= (masses[SMALL.indexOf(text[i] as string)] as number) / total;
    }
    if (probability > 0) result.set([...ids(text), SMALL.length].join(), probability);
  }
  return result;
};

const ANSWER = { prompt: { tokens: [1, 2] }, maxTokens: 8, constraint: { regex: REGEX } };

const measured = async (runs: number, sampling: object, toy: Partial<ToyOptions> = {}) => {
  const { engine, run } = await toyEngine(autoregressive, { ...SMALL_TOY, ...toy }, [3], lettersTokenizer(SMALL));
  const counts = new Map<string, number>();
  for (let seed = 0; seed < runs; seed++) {
    const key = committedTokens(await run({ ...ANSWER, ...sampling, seed })).join();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  await engine.close();
  return counts;
};

describe('the distribution of constrained answers', () => {
  const runs = process.env.OUTRIDER_FULL === '1' ? 20_000 : 6000;
  const draft = EXACT.find(({ id }) => id === 'draft-model') as (typeof EXACT)[number];
  const SAMPLINGS = [
    { temperature: 0.8, topK: 0, topP: 1, minP: 0 },
    { temperature: 1.2, topK: 2, topP: 1, minP: 0 },
    { temperature: 1, topK: 0, topP: 0.7, minP: 0 },
  ];

  it.each(SAMPLINGS)(`is the target's, filtered and then restricted: ${runs} runs at %o`, async (sampling) => {
    const { totalVariation, noise } = distance(await measured(runs, sampling), bruteForce(sampling));
    expect(totalVariation).toBeLessThan(2 * noise);
  });

  it.each(SAMPLINGS)('is that of drafts too, which change no token: 100 seeds at %o', async (sampling) => {
    const options = [SMALL_TOY, [3], lettersTokenizer(SMALL)] as const;
    const [plain, own] = [await toyEngine(autoregressive, ...options), await toyEngine(draft, ...options)];
    for (let seed = 0; seed < 100; seed++) {
      const expected = await plain.run({ ...ANSWER, ...sampling, seed });
      expect(committedTokens(await own.run({ ...ANSWER, ...sampling, seed })), `${seed}`).toEqual(
        committedTokens(expected),
      );
    }
    await Promise.all([plain.engine.close(), own.engine.close()]);
  });

  it('controls: a wrong masked draw is found out', async () => {
    const sampling = { temperature: 0.8, topK: 0, topP: 1, minP: 0 };
    const expected = bruteForce(sampling);
    const wrong: readonly NonNullable<ToyOptions['allowed']>[] = [
      (logits, _draw, allows) => logits.findIndex((_, token) => allows(token)),
      (logits, draw, allows) => {
        const masses = distributionReference(logits, { ...draw, temperature: 0 }).map((mass, token) =>
          allows(token) ? mass : 0,
        );
        return masses.some((mass) => mass > 0) ? masses.indexOf(1) : logits.findLastIndex((_, token) => allows(token));
      },
    ];
    for (const allowed of wrong) {
      const { totalVariation, noise } = distance(await measured(1500, sampling, { allowed }), expected);
      expect(totalVariation).toBeGreaterThan(4 * noise);
    }
  });
});
