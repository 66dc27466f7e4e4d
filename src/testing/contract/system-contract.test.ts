// Tests every system of systems/index.ts against the guarantee that it declares, on toy models, with every way of
// drafting that its knobs offer. Broken systems and broken verifiers must fail: they show that the tests can.
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { drawToken, prefill } from '../../decode/core/prefill.ts';
import type { DecodingSystem, Sequence } from '../../decode/core/system.ts';
import { distributionReference } from '../../kernels/sampling/sample.reference.ts';
import { MATCH, RATIO } from '../../kernels/verify/verify.reference.ts';
import autoregressive from '../../systems/autoregressive.ts';
import blockpilot from '../../systems/blockpilot.ts';
import { SYSTEMS } from '../../systems/index.ts';
import { committedTokens, type EventOf, measure, type TraceEvent } from '../../trace/index.ts';
import { type ToyDistribution, toyLogits } from '../toys/toy-model.ts';
import {
  baselineOf,
  baselineSettings,
  isDrawn,
  isSpeculative,
  neverFallBack,
  oneDraft,
  type Settings,
  variantsOf,
} from './exact-systems.ts';
import {
  BROKEN,
  greedyFailures,
  RUNS,
  sampledDifferences,
  samplingDistance,
  type Trial,
  toyEngine,
} from './system-contract.ts';

/** Every broken system and verifier is found out with 10. */
const PROMPTS = process.env.OUTRIDER_FULL === '1' ? 50 : 12;
const TOKENS = 64;
/**
 * The distance of a correct system scatters about the noise floor by 10 % or so; broken ones are at 3 to 20 times it.
 */
const MARGIN = 1.5;
/**
 * Seeds at which a system whose drafts are not drawn must write plain decoding's very tokens. It would show at one of
 * them, with a probability above .999, if its distribution were off by .035: about what counting 5000 seeds could tell.
 */
const SEEDS = 200;

/**
 * Every option of every choice, the other choices being what they are initially, with drafts as they are and of one token. After a longer draft a bonus token would come
 * later than the tokens that are counted.
 */
const settingsOf = (system: DecodingSystem): readonly Settings[] => {
  const choices = Object.entries(system.knobs).flatMap(([name, knob]): Settings[] =>
    knob.kind === 'choice' && name !== 'fall-back'
      ? knob.options.filter((option) => option !== knob.initial).map((option) => ({ [name]: option }))
      : [],
  );
  const all = [{}, ...choices];
  const short = oneDraft(system);
  return Object.keys(short).length > 0 ? all.flatMap((chosen) => [chosen, { ...chosen, ...short }]) : all;
};

const withSettings = (systems: readonly DecodingSystem[]) =>
  systems.flatMap((system) =>
    settingsOf(system).map((knobs) => ({ system, knobs, name: `${system.id} ${JSON.stringify(knobs)}` })),
  );

/** Systems that write token by token. Step systems are compared with references of their own: route.test.ts. */
const TOKENWISE = SYSTEMS.filter(({ guarantee, knobs }) => guarantee === 'exact' && !Object.hasOwn(knobs, 'delimiter'));

/**
 * Systems that equal plain decoding. Ensembles have a distribution and a contract of their own:
 * ensemble-contract.test.ts.
 */
const PLAIN = TOKENWISE.filter((system) => baselineOf(system).id === autoregressive.id);

/**
 * Declared variants of systems that speculate, each set of choices once. The toys' blocks are smaller than those of real
 * drafters.
 */
const SPECULATIVE = PLAIN.filter(isSpeculative)
  .flatMap(variantsOf)
  .map(({ system, drawn, knobs }) => ({
    system,
    drawn,
    id: system.id,
    knobs: neverFallBack(
      system,
      Object.fromEntries(Object.entries(knobs).filter(([name]) => system.knobs[name]?.kind === 'choice')),
    ),
  }))
  .filter(
    ({ system, knobs }, i, all) =>
      i === all.findIndex((each) => each.system === system && isDeepStrictEqual(each.knobs, knobs)),
  );

/** Plain decoding with one thing wrong. */
const broken = (
  id: string,
  wrong: { sequence?: (sequence: Sequence) => Sequence; token?: (token: number) => number; forget?: boolean },
): DecodingSystem => ({
  id,
  title: id,
  summary: '',
  group: 'comparison',
  paper: '',
  guarantee: 'exact',
  needs: ['target'],
  knobs: {},
  async start(run) {
    const cursor = await run.open('target');
    const { first } = await prefill(run, cursor);
    return {
      first,
      async round({ sequence }) {
        const pass = cursor.forward({ tokens: sequence.tokens.slice(-1), parents: [-1] });
        const commit = await drawToken(pass, 0, wrong.sequence?.(sequence) ?? sequence);
        if (!wrong.forget) pass.accept([0]);
        return { ...commit, tokens: commit.tokens.map((token) => wrong.token?.(token) ?? token) };
      },
    };
  },
});

const withSampling = (change: object) => (sequence: Sequence) => ({
  ...sequence,
  tokens: sequence.tokens,
  budget: sequence.budget,
  alternatives: 0,
  sampling: { ...sequence.sampling, ...change },
});

describe.each(withSettings(PLAIN))('$name is exact', ({ system, knobs }) => {
  it(`writes the target's greedy tokens: ${PROMPTS} prompts of ${TOKENS} tokens`, async () => {
    expect(await greedyFailures(system, PROMPTS, TOKENS, { knobs })).toBe(0);
  });

  // Plain decoding draws each token; what is compared with its tokens needs no count of its own.
  if (system === autoregressive || isDrawn(system, knobs))
    it(`follows the target's distribution: three tokens, ${RUNS} seeds`, async () => {
      const { totalVariation, noise } = await samplingDistance(system, RUNS, { knobs });
      expect(totalVariation).toBeLessThan(MARGIN * noise);
    });
  else
    it(`draws the tokens of plain decoding: ${SEEDS} seeds`, async () => {
      expect(await sampledDifferences(system, SEEDS, { knobs })).toEqual([]);
    });
});

describe('broken systems are found out', () => {
  it.each([
    broken('a committed row is forgotten', { forget: true }),
    broken('a neighbouring token', { token: (token) => (token === 3 ? 4 : token) }),
    broken('sampled, though greedy was asked for', { sequence: withSampling({ temperature: 0.5 }) }),
  ])('greedy: $id', async (system) => {
    expect(await greedyFailures(system, 10, TOKENS)).toBeGreaterThan(0);
  });

  it.each([
    broken('greedy, though sampling was asked for', { sequence: withSampling({ temperature: 0 }) }),
    broken('another temperature', { sequence: withSampling({ temperature: 1 }) }),
    broken('the same randomness at every seed', { sequence: withSampling({ seed: 7 }) }),
    broken('a committed row is forgotten', { forget: true }),
  ])('sampled: $id', async (system) => {
    const { totalVariation, noise } = await samplingDistance(system, 'until found');
    expect(totalVariation).toBeGreaterThan(BROKEN * noise);
  });
});

/** Verifiers with one thing wrong, for drafts that were drawn and for those that were not. */
const WRONG = {
  'the residual is replaced by p': { ratio: { ...RATIO, replacement: (p: readonly number[]) => p } },
  'everything is accepted': {
    ratio: { ...RATIO, keeps: () => true },
    match: { ...MATCH, follows: () => true },
  },
  'the bonus comes from the wrong row': {
    ratio: { ...RATIO, last: (nodes: number) => Math.max(0, nodes - 2) },
    match: { ...MATCH, last: (path: readonly number[]) => path.at(-2) ?? 0 },
  },
  'a node sees its elder siblings': { leak: true },
} satisfies Record<string, Trial['toy']>;

describe('broken verifiers are found out', () => {
  const DRAWN = SPECULATIVE.filter(({ drawn }) => drawn).map(({ system, knobs, ...rest }) => ({
    ...rest,
    system,
    knobs: { ...knobs, ...oneDraft(system) },
  }));
  const CHOSEN = SPECULATIVE.filter(({ drawn }) => !drawn);
  const TREES = SPECULATIVE.filter(({ knobs }) => knobs.shape === 'tree');
  const cases = (wrong: keyof typeof WRONG, systems: typeof SPECULATIVE) => systems.map((each) => ({ wrong, ...each }));

  it.each([
    ...cases('the residual is replaced by p', DRAWN),
    ...cases('everything is accepted', DRAWN),
    ...cases('the bonus comes from the wrong row', DRAWN),
  ])('sampled, drafts that were drawn: $wrong, $id', async ({ system, wrong, knobs }) => {
    const toy = { noise: 4, ...WRONG[wrong] };
    const { totalVariation, noise } = await samplingDistance(system, 'until found', { knobs, toy });
    expect(totalVariation).toBeGreaterThan(BROKEN * noise);
  });

  it.each([
    ...cases('everything is accepted', CHOSEN),
    ...cases('the bonus comes from the wrong row', CHOSEN),
    ...cases('a node sees its elder siblings', TREES),
  ])('sampled, drafts that were not drawn: $wrong, $id', async ({ system, wrong, knobs }) => {
    const toy = { noise: 4, ...WRONG[wrong] };
    const different = await sampledDifferences(system, SEEDS, { knobs, toy });
    expect(different, 'a broken verifier is not found out: the drafter drafts too little').not.toEqual([]);
  });

  it.each([
    ...cases('everything is accepted', [...DRAWN, ...CHOSEN]),
    ...cases('the bonus comes from the wrong row', [...DRAWN, ...CHOSEN]),
    ...cases('a node sees its elder siblings', TREES),
  ])('greedy: $wrong, $id', async ({ system, wrong, knobs }) => {
    const toy: Trial['toy'] = { noise: 3, ...WRONG[wrong] };
    expect(await greedyFailures(system, 10, TOKENS, { knobs, toy })).toBeGreaterThan(0);
  });
});

describe.each(withSettings(TOKENWISE))('$name', ({ system, knobs }) => {
  const toy = { vocabulary: 12, sharpness: 3, context: 64 };
  const prompt = { tokens: [3, 1, 4, 1, 5] };
  const speculative = isSpeculative(system);
  const always = neverFallBack(system, knobs);
  const sampled = { prompt, temperature: 1, seed: 42, maxTokens: 40, knobs: always };

  /** Rounds that committed less than they verified: the answer ended inside their block. */
  const cut = (events: readonly TraceEvent[]): number => {
    let verified = 0;
    let count = 0;
    for (const event of events) {
      if (event.type === 'verify') verified = event.path.length;
      if (event.type === 'commit' && event.round > 0 && event.tokens.length < verified) count++;
    }
    return count;
  };

  it('gives the same output for the same seed, another for another', async () => {
    const { run } = await toyEngine(system, toy);
    const tokens = committedTokens(await run(sampled));
    expect(tokens).toHaveLength(40);
    expect(committedTokens(await run(sampled))).toEqual(tokens);
    expect(committedTokens(await run({ ...sampled, seed: 43 }))).not.toEqual(tokens);
    // Whether a run falls back depends on the clock, and must not change what is drawn.
    const first = committedTokens(await run({ ...sampled, knobs }));
    for (let again = 0; again < 5; again++) expect(committedTokens(await run({ ...sampled, knobs }))).toEqual(first);
  });

  it('ends at a stop token, commits it, and nothing after it', async () => {
    // Four tokens, and a prompt in the model's own words: soon there is something to look up.
    const repeating = { ...toy, vocabulary: 4 };
    const own = await toyEngine(autoregressive, repeating);
    const begin = [3, 1, 2];
    const words = committedTokens(await own.run({ prompt: { tokens: begin }, maxTokens: 30 }));
    const request = { ...sampled, prompt: { tokens: [...begin, ...words] }, temperature: 0.2, maxTokens: 30 };
    const { run } = await toyEngine(system, repeating);
    const tokens = committedTokens(await run(request));
    let inside = 0;
    for (const stop of new Set(tokens)) {
      const stopping = await toyEngine(system, repeating, [stop]);
      const events = await stopping.run(request);
      expect(committedTokens(events)).toEqual(tokens.slice(0, tokens.indexOf(stop) + 1));
      expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'stop', stop });
      expect(committedTokens(await stopping.run({ ...request, ignoreEos: true }))).toEqual(tokens);
      inside += cut(events);
    }
    if (speculative && !Object.keys(knobs).some((name) => name in oneDraft(system)))
      expect(inside, 'no stop token came up inside a block: the drafter drafts too little').toBeGreaterThan(0);
  });

  it('commits exactly max_tokens, up to the end of the context', async () => {
    const { run } = await toyEngine(system, toy);
    const all = committedTokens(await run({ ...sampled, maxTokens: 59 }));
    expect(all).toHaveLength(59);
    for (const maxTokens of [1, 2, 3, 17, 58]) {
      const events = await run({ ...sampled, maxTokens });
      expect(committedTokens(events)).toEqual(all.slice(0, maxTokens));
      expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'length', stop: null });
    }
    const greedy = { prompt, knobs, maxTokens: 59 };
    const baseline = await toyEngine(baselineOf(system), toy);
    const expected = await baseline.run({ ...greedy, knobs: baselineSettings(system, knobs) });
    expect(committedTokens(await run(greedy))).toEqual(committedTokens(expected));
  });

  it.each([58, 60, 62, 63])(
    'fills the context after a prompt of %i tokens, the first of its models',
    async (length) => {
      const long = { tokens: Array.from({ length }, (_, i) => (i * 7) % 12) };
      const request = { prompt: long, maxTokens: 64 - length };
      const [own, baseline] = [await toyEngine(system, toy), await toyEngine(baselineOf(system), toy)];
      const expected = await baseline.run({ ...request, knobs: baselineSettings(system, knobs) });
      expect(committedTokens(await own.run({ ...request, knobs }))).toEqual(committedTokens(expected));
    },
  );

  it('continues a conversation from its cache exactly as it would from nothing', async () => {
    const { run } = await toyEngine(system, toy);
    let tokens: number[] = [...prompt.tokens];
    for (const maxTokens of [7, 9, 11]) {
      const request = { ...sampled, prompt: { tokens: [...tokens, 2, 7] }, seed: maxTokens, maxTokens };
      const events = await run(request);
      const afresh = await toyEngine(system, toy);
      expect(committedTokens(events)).toEqual(committedTokens(await afresh.run(request)));
      if (tokens.length > prompt.tokens.length)
        expect(measure(events).reused_tokens).toBeGreaterThanOrEqual(tokens.length - 1);
      tokens = [...request.prompt.tokens, ...committedTokens(events)];
    }
  });

  it('stops where it was aborted, in the middle of a round too, and runs on undisturbed afterwards', async () => {
    const { engine, run } = await toyEngine(system, toy);
    const tokens = committedTokens(await run(sampled));
    for (const inside of [false, true]) {
      const abort = new AbortController();
      const seen: number[] = [];
      for await (const event of engine.run({ ...sampled, system: system.id }, abort.signal)) {
        if (event.type === 'commit') seen.push(...event.tokens);
        if (seen.length >= 5 && !inside) abort.abort();
        // The next round is under way by then: its verdict waits for the device in the same queue.
        if (seen.length >= 5 && inside) queueMicrotask(() => setImmediate(() => abort.abort()));
        if (event.type === 'done') expect(event.finish_reason).toBe('aborted');
      }
      expect(seen).toEqual(tokens.slice(0, seen.length));
      expect(seen.length).toBeLessThan(tokens.length);
      expect(committedTokens(await run(sampled))).toEqual(tokens);
    }
  });

  it('reads back once a round, once more for a cut on the host, and for the first token', async () => {
    const { run, tokenRing } = await toyEngine(system, toy);
    await run(sampled); // block sizes have been timed
    const before = tokenRing.looks;
    const events = await run(sampled);
    if (system.guarantee !== 'exact') return;
    const cutOnHost = (knobs.cut ?? 'none') !== 'none' && knobs['cut-by'] === 'host';
    const cuts = !cutOnHost ? 0 : events.filter(({ type }) => type === 'draft').length;
    expect(tokenRing.looks - before).toBe(1 + measure(events).rounds + cuts);
  });
});

/** A schedule by measured costs cuts every draft of a toy, whose passes cost as much as they have rows. */
const DRAFTING = withSettings(PLAIN.filter(isSpeculative)).filter(({ knobs }) => knobs.cut !== 'schedule');

describe.each(DRAFTING)('$name', ({ system, knobs }) => {
  it('speculates, and counts what it drafted', async () => {
    const { run } = await toyEngine(system, { vocabulary: 12, sharpness: 6 });
    const events = await run({ prompt: { tokens: [1, 2] }, maxTokens: 200, knobs: { ...knobs, 'fall-back': 'off' } });
    const metrics = measure(events);
    const few = 'too few tokens a round: the drafter drafts too little, or its drafts are rejected';
    expect(metrics.tokens_per_round, few).toBeGreaterThan(1.3);
    const kept = metrics.acceptance_lengths.reduce((sum, length) => sum + length - 1, 0);
    expect(metrics.accepted, 'rounds kept more drafts than were accepted').toBeGreaterThanOrEqual(kept);
    expect(metrics.drafted, 'no draft was rejected').toBeGreaterThan(metrics.accepted);
  });

  it.each([0, 0.9])(
    'tells what target and drafter gave every draft, when asked, temperature %s',
    async (temperature) => {
      const toy = { vocabulary: 12, sharpness: 6 };
      const { run } = await toyEngine(system, toy);
      const request = {
        prompt: { tokens: [1, 2] },
        maxTokens: 60,
        knobs: { ...knobs, 'fall-back': 'off' },
        temperature,
      };
      const events = await run({ ...request, seed: 3, logprobs: 0 });
      const probability = (distribution: ToyDistribution, text: readonly number[], token: number): number =>
        distributionReference(toyLogits(distribution, text), { temperature: 1, topK: 0, topP: 1, minP: 0 })[
          token
        ] as number;
      // A block's slots see no drafts, nor do masks, so their probabilities are not those after this text.
      const leftToRight = ['draft-model', 'dspark', 'blockpilot', 'eagle3', 'mtp', 'combined'].includes(system.id);
      const seed = new Map<string, number>([
        ['draft', 1],
        ['eagle3', 3],
        ['mtp', 5],
        ['dspark', 4],
      ]);
      const text = [1, 2];
      let draft: EventOf<'draft'> | undefined;
      let told = 0;
      for (const event of events) {
        if (event.type === 'draft') draft = event;
        if (event.type === 'commit') text.push(...event.tokens);
        if (event.type !== 'verify' || !draft) continue;
        const { tokens, parents, by } = draft;
        const path = (node: number): number[] =>
          node <= 0 ? [] : [...path(parents[node] as number), tokens[node] as number];
        expect(event.probabilities).toHaveLength(tokens.length - 1);
        for (const [i, { target, draft: own }] of (event.probabilities ?? []).entries()) {
          const [before, token] = [[...text, ...path(parents[i + 1] as number)], tokens[i + 1] as number];
          expect(target).toBeCloseTo(probability(toy, before, token), 9);
          if (by === 'lookup') expect(own).toBeNull();
          else if (!leftToRight || !seed.has(by)) expect(own).toBeGreaterThan(0);
          else expect(own).toBeCloseTo(probability({ ...toy, noise: 1.5, seed: seed.get(by) ?? 0 }, before, token), 9);
          told++;
        }
        draft = undefined;
      }
      expect(told).toBeGreaterThan(10);
      const silent = await run({ ...request, seed: 3 });
      expect(committedTokens(silent)).toEqual(committedTokens(events));
      expect(silent.filter((event) => 'probabilities' in event)).toEqual([]);
    },
  );
});

describe('where drafts are not drawn', () => {
  it.each(SPECULATIVE.filter(({ drawn }) => !drawn))(
    '$id samples the tokens of plain decoding',
    async ({ system, knobs }) => {
      const request = { prompt: { tokens: [5, 6] }, temperature: 0.9, topK: 9, topP: 0.95, seed: 5, maxTokens: 120 };
      const toy = { vocabulary: 12, sharpness: 6 };
      const plain = await (await toyEngine(autoregressive, toy)).run(request);
      const speculative = await (await toyEngine(system, toy)).run({
        ...request,
        knobs: neverFallBack(system, knobs),
      });
      expect(committedTokens(speculative)).toEqual(committedTokens(plain));
      expect(measure(speculative).accepted).toBeGreaterThan(0);
    },
  );
});

describe('blockpilot chooses', () => {
  it('after the first token, which need not wait for it, so that its time is a part of decoding', async () => {
    const { run } = await toyEngine(blockpilot, { vocabulary: 12, sharpness: 6 });
    const kindsOf = async (maxTokens: number) =>
      (await run({ prompt: { tokens: [5, 6] }, maxTokens })).flatMap(({ type }) =>
        ['prefill', 'commit', 'block-size'].includes(type) ? [type] : [],
      );
    expect((await kindsOf(20)).slice(0, 4)).toEqual(['prefill', 'commit', 'block-size', 'commit']);
    expect(await kindsOf(1)).toEqual(['prefill', 'commit']);
  });

  const chosen = async (label: string, candidates: readonly number[]) => {
    const { run } = await toyEngine(blockpilot, { vocabulary: 12, sharpness: 6 });
    const events = await run({ prompt: { tokens: [5, 6] }, maxTokens: 20, knobs: { label, candidates } });
    return events.find((event): event is EventOf<'block-size'> => event.type === 'block-size');
  };

  it('the largest acceptance length, or the least time a token and of sizes about as good the smallest', async () => {
    expect((await chosen('tau', [4, 2, 6]))?.size).toBe(6);
    const { size, candidates = [], tau = [], round_ms = [] } = (await chosen('time', [6, 2, 4])) ?? {};
    const rates = tau.map((expected, i) => expected / (round_ms[i] as number));
    const rateOf = (each: number | undefined): number => rates[candidates.indexOf(each as number)] as number;
    expect(rateOf(size) / Math.max(...rates)).toBeGreaterThan(0.96);
    for (const other of candidates.filter((each) => each < (size as number)))
      expect(rateOf(other) / Math.max(...rates)).toBeLessThan(0.98);
  });
});
