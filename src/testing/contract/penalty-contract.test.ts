// What every exact system promises of biases, penalties, bans and least lengths: the tokens of plain decoding under the same
// rules, and where drafts are drawn at random the distribution that follows from the rules by brute force.
import { describe, expect, it } from 'vitest';
import type { RunRequest } from '../../engine/request.ts';
import { adjustReference } from '../../kernels/sampling/adjust-logits.reference.ts';
import { distributionReference } from '../../kernels/sampling/sample.reference.ts';
import autoregressive from '../../systems/autoregressive.ts';
import { SYSTEMS } from '../../systems/index.ts';
import { committedTokens } from '../../trace/index.ts';
import { type ToyOptions, toyLogits } from '../toys/toy-model.ts';
import { EXACT, isSpeculative, neverFallBack, type SystemVariant, variantsOf } from './exact-systems.ts';
import { distance, jointDistribution, toyEngine } from './system-contract.ts';

type Rules = Pick<
  RunRequest,
  'repetitionPenalty' | 'presencePenalty' | 'frequencyPenalty' | 'logitBias' | 'minTokens' | 'badWords'
>;

const STOP = 11;
const TOY = { vocabulary: 12, sharpness: 4 };
const RULES: Readonly<Record<string, Rules>> = {
  repetition: { repetitionPenalty: 1.6 },
  presence: { presencePenalty: 1.1 },
  frequency: { frequencyPenalty: 0.7 },
  bias: { logitBias: { 3: 1.5, 5: -100 } },
  minTokens: { minTokens: 14, logitBias: { [STOP]: 1.5 } },
  badWords: { badWords: [[2], [1, 4], [7, 8, 9]] },
  all: {
    repetitionPenalty: 1.3,
    presencePenalty: -0.4,
    frequencyPenalty: 0.5,
    logitBias: { 0: 1, 6: -1 },
    minTokens: 5,
    badWords: [[3, 3], [10]],
  },
};

const settings = ({ system, knobs }: SystemVariant) =>
  // The toys' blocks are smaller than those of real drafters.
  neverFallBack(
    system,
    Object.fromEntries(Object.entries(knobs).filter(([name]) => system.knobs[name]?.kind === 'choice')),
  );

const VARIANTS = EXACT.filter(({ group }) => group === 'speculative')
  .filter(isSpeculative)
  .flatMap(variantsOf);

describe.each(VARIANTS)('$name under rules for its logits', (variant) => {
  const { system, drawn } = variant;
  let drafted = 0;
  it.each(Object.keys(RULES))('%s: the tokens of plain decoding', async (name) => {
    const plain = await toyEngine(autoregressive, TOY, [STOP]);
    const own = await toyEngine(system, TOY, [STOP]);
    for (let seed = 0; seed < 12; seed++) {
      const request = {
        prompt: { tokens: [seed % 7, (3 * seed) % 5, 1, seed % 7] },
        maxTokens: 16 + (seed % 3) * 12,
        temperature: drawn || seed < 6 ? 0 : 0.9,
        seed,
        ...RULES[name],
      };
      const events = await own.run({ ...request, knobs: settings(variant) });
      expect(committedTokens(events), `seed ${seed}`).toEqual(committedTokens(await plain.run(request)));
      for (const event of events)
        if (event.type === 'commit') drafted += event.source.filter((source) => source === 'drafted').length;
    }
    await plain.engine.close();
    await own.engine.close();
  });

  it('kept drafts among them', () => {
    expect(drafted).toBeGreaterThan(0);
  });
});

describe('the distribution', () => {
  const small = { vocabulary: 4, sharpness: 3 };
  const prompt = [1, 2, 0];
  const rules: Rules = {
    repetitionPenalty: 1.4,
    presencePenalty: 0.5,
    frequencyPenalty: 0.4,
    logitBias: { 1: 0.7 },
    badWords: [[2, 2]],
  };
  const sampling = { temperature: 0.9, topK: 0, topP: 1, minP: 0 };
  const expected = (): Promise<Map<string, number>> =>
    jointDistribution(
      (tokens) =>
        distributionReference(
          adjustReference(toyLogits(small, tokens), tokens, prompt.length, {
            repetition: 1.4,
            presence: 0.5,
            frequency: 0.4,
            biases: [{ token: 1, bias: 0.7 }],
            bans: [{ token: 2, after: [2], until: Infinity }],
          }),
          sampling,
        ),
      prompt,
      4,
    );
  const measured = async (variant: SystemVariant, runs: number, toy: Partial<ToyOptions> = {}) => {
    const { engine, run } = await toyEngine(variant.system, { ...small, ...toy });
    const counts = new Map<string, number>();
    for (let seed = 0; seed < runs; seed++) {
      const request = { prompt: { tokens: prompt }, maxTokens: 4, seed, ...sampling, ...rules };
      const key = committedTokens(await run({ ...request, knobs: settings(variant) })).join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    await engine.close();
    return counts;
  };
  const [plain] = variantsOf(autoregressive) as [SystemVariant];

  it.each([plain, ...VARIANTS.filter(({ drawn }) => drawn)])('$name has that of the rules', async (variant) => {
    const { totalVariation, noise } = distance(await measured(variant, 2500), await expected());
    expect(totalVariation).toBeLessThan(2 * noise);
  });

  it('controls: wrong rules are found out', async () => {
    const draft = VARIANTS.find(({ system }) => system.id === 'draft-model') as SystemVariant;
    const wrong: readonly NonNullable<ToyOptions['adjust']>[] = [
      (logits) => [...logits],
      // The drafts of the row are forgotten.
      (logits, text, count, all) => adjustReference(logits, text.slice(0, count + 1), count, all),
    ];
    for (const adjust of wrong) {
      const { totalVariation, noise } = distance(await measured(draft, 2000, { adjust }), await expected());
      expect(totalVariation).toBeGreaterThan(3 * noise);
    }
  });
});

it('ensembles and step routers refuse the fields by name', async () => {
  for (const system of SYSTEMS.filter(({ group }) => group !== 'baseline' && group !== 'speculative')) {
    const { engine, run } = await toyEngine(system, TOY);
    const request = { prompt: { tokens: [1] }, logitBias: { 3: 1 } };
    if (system.needs.every((role) => role === 'target' || role === 'draft'))
      await expect(run(request)).rejects.toThrow(`${system.id} does not take logitBias`);
    await engine.close();
  }
});

it('values that cannot be are refused by the name of their field', async () => {
  const { engine, run } = await toyEngine(autoregressive, TOY, [STOP]);
  const cases: readonly [Rules, string, hint?: string][] = [
    [{ repetitionPenalty: 0 }, 'repetitionPenalty must be from 0.01 to 100, not 0'],
    [{ repetitionPenalty: Number.NaN }, 'repetitionPenalty must be'],
    [{ presencePenalty: 2.5 }, 'presencePenalty must be from -2 to 2, not 2.5'],
    [{ frequencyPenalty: -3 }, 'frequencyPenalty must be from -2 to 2, not -3'],
    [{ logitBias: { 12: 1 } }, 'logitBias: "12" is no token of the vocabulary of 12'],
    [{ logitBias: { 3: 101 } }, 'logitBias[3] must be from -100 to 100, not 101'],
    [{ minTokens: 1.5 }, 'minTokens must be a whole number'],
    [{ minTokens: 9 }, 'minTokens is 9, and maxTokens only 8', 'Ask for fewer tokens, or allow more.'],
    [{ badWords: [[]] }, 'badWords[0] is empty', 'Leave it out: a word has at least one token.'],
    [{ badWords: [[3], [40]] }, 'badWords[1]: 40 is no token of the vocabulary of 12'],
    [{ badWords: ['no'] }, 'has no tokenizer, so badWords must be lists of token ids'],
  ];
  for (const [rules, message, hint = ''] of cases)
    await expect(run({ prompt: { tokens: [1] }, maxTokens: 8, ...rules }), message).rejects.toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  await engine.close();
});
