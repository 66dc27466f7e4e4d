// Systems that draw several steps or answers as one batch (SpecGuard, majority, best of n), against references on plain
// arrays.
import { describe, expect, it } from 'vitest';
import type { Sampling } from '../../model/interface.ts';
import bestOfN from '../../systems/best-of-n.ts';
import draftOnly from '../../systems/draft-only.ts';
import majority from '../../systems/majority.ts';
import specguard from '../../systems/specguard.ts';
import targetOnly from '../../systems/target-only.ts';
import { type ReferenceStep, writeReference } from '../../testing/toys/route.reference.ts';
import {
  DELIMITER,
  DRAFT,
  GREEDY,
  PLAIN,
  PROMPT,
  routeEngine,
  routesOf,
  SAMPLED,
  STOP,
  sidecarWith,
  stepsOf,
  TARGET,
} from '../../testing/toys/route-engine.ts';
import { toyScore } from '../../testing/toys/toy-judge.ts';
import { toyGrounding } from '../../testing/toys/toy-model.ts';
import { committedTokens, measure, type TraceEvent } from '../../trace/index.ts';
import { draftSampling, stepSampling } from '../core/draft-sampling.ts';
import type { SentenceEncoder } from '../core/system.ts';
import type { Candidate } from './candidates.ts';
import type { Question } from './route.ts';
import { mostCentral } from './select-candidate.ts';
import { specguardScore } from './specguard-score.ts';
import type { StepScore } from './threshold-rule.ts';

const SEED = 21;
const DRAWN: Sampling = { ...GREEDY, temperature: 0.7, topP: 0.8, seed: SEED };

/** Each candidate is drawn with a seed of its own. */
const candidateSampling = (sampling: Sampling, i: number): Sampling => ({
  ...sampling,
  seed: (sampling.seed ^ Math.imul(i, 0x85ebca6b)) >>> 0,
});

const limits = (stops: readonly number[] = []) => ({
  delimiter: DELIMITER,
  stops: new Set(stops),
  most: 128,
  context: 4096,
});

const mostAlike = (candidates: readonly ReferenceStep[]): number => {
  const sets = candidates.map(({ tokens }) => new Set(tokens));
  const sums = sets.map((a) =>
    sets.reduce((sum, b) => {
      const shared = [...a].filter((token) => b.has(token)).length;
      return sum + Math.exp(shared / new Set([...a, ...b]).size);
    }, 0),
  );
  return sums.indexOf(Math.max(...sums));
};

interface Guard {
  readonly k: number;
  readonly beta: number;
  readonly tau: number;
  readonly logprob?: readonly [number, number];
  readonly grounding?: readonly [number, number];
}

const ASSUMED = [Math.log(0.05), 0] as const;
const share = (value: number, [low, high]: readonly [number, number]) =>
  Math.min(1, Math.max(0, (value - low) / (high - low)));

/** SpecGuard with the token-set selector; the target draws k candidates too. */
const guarded = ({ k, beta, tau, logprob = ASSUMED, grounding = [0, 1] }: Guard, maxTokens: number) => {
  const steps: ReferenceStep[] = [];
  const scores: number[] = [];
  const text = [...PROMPT];
  const draw = (distribution: typeof TARGET, by: 'draft' | 'target', sampling: Sampling) =>
    Array.from({ length: k }, (_, i) =>
      writeReference(distribution, by, text, candidateSampling(sampling, i), limits()),
    );
  while (text.length < PROMPT.length + maxTokens) {
    const own = draw(DRAFT, 'draft', stepSampling(DRAWN));
    const candidate = own[mostAlike(own)] as ReferenceStep;
    const all = [...text, ...candidate.tokens];
    const rests = candidate.tokens.map((_, i) => toyGrounding(all, text.length + i, text.length));
    const score = beta * share(candidate.sure, logprob) + (1 - beta) * share(Math.min(...rests), grounding);
    scores.push(score);
    const theirs = draw(TARGET, 'target', DRAWN);
    const step = score >= tau ? candidate : (theirs[mostAlike(theirs)] as ReferenceStep);
    steps.push(step);
    text.push(...step.tokens);
  }
  return { tokens: text.slice(PROMPT.length, PROMPT.length + maxTokens), steps, scores };
};

const KNOBS = { k: 4, temperature: 0.7, beta: 0.5, selector: 'tokens', escalated: 'candidates' } as const;

describe('specguard', () => {
  it.each([
    ['both signals', { k: 4, beta: 0.5, tau: 0.15 }],
    ['the log-probability alone', { k: 3, beta: 1, tau: 0.4, logprob: [-2.2, -0.5] }],
    ['the grounding alone', { k: 2, beta: 0, tau: 0.15 }],
  ] as [string, Guard][])('commits what the reference commits: %s', async (_, guard) => {
    const file = { version: 1, steps: 20, logprob: guard.logprob, grounding: {} };
    const { run } = await routeEngine({ sidecar: sidecarWith(guard.logprob ? file : null) });
    const { k, beta, tau } = guard;
    const events = await run(specguard, { seed: SEED, maxTokens: 120, knobs: { ...KNOBS, k, beta, tau } });
    const expected = guarded(guard, 120);
    expect(committedTokens(events)).toEqual(expected.tokens);
    expect(stepsOf(events).map(({ by }) => by)).toEqual(expected.steps.map(({ by }) => by));
    routesOf(events).forEach(({ score, signals }, i) => {
      expect(score).toBeCloseTo(expected.scores[i] as number, 5);
      expect(signals?.grounding === null).toBe(guard.beta === 1);
    });
    expect(new Set(stepsOf(events).map(({ by }) => by)).size).toBe(2);
  });

  it('greedy and alone is routing by the draft itself, in front of the nested system', async () => {
    const { run } = await routeEngine();
    const knobs = { ...KNOBS, k: 1, temperature: 0, 'top-p': 1, ...PLAIN };
    const all = await run(specguard, { ...GREEDY, knobs: { ...knobs, tau: 0 } });
    expect(committedTokens(all)).toEqual(committedTokens(await run(draftOnly, GREEDY)));
    const none = await run(specguard, { ...GREEDY, knobs: { ...knobs, tau: 1.01 } });
    expect(committedTokens(none)).toEqual(committedTokens(await run(targetOnly, { ...GREEDY, knobs: PLAIN })));
  });

  it.each([
    ['grounding', 0, 'a token whose attention reaches too little of the sources'],
    ['log-probability', 1, 'a token that it was unsure of'],
  ])('says that the %s was short where it alone counts', async (_, beta, reason) => {
    const { run } = await routeEngine();
    const events = await run(specguard, { seed: SEED, maxTokens: 60, knobs: { ...KNOBS, k: 1, beta, tau: 1.01 } });
    expect(new Set(routesOf(events).map((route) => route.reason))).toEqual(new Set([reason]));
  });

  it('names the signal that is further below its share, not the smaller one', async () => {
    const weakness = async (beta: number, grounding = 0.9) => {
      const step = { tokens: [1], ends: 'delimiter', pooled: null } as const;
      const candidate: Candidate = { ...step, logprobs: [-1], grounding: [grounding] };
      const ranges = { calibrated: true, logprob: [-2, 0], grounding: [0, 1] } as const;
      const score = specguardScore({ select: async () => 0, ranges, beta });
      return ((await score({ candidates: [candidate] } as unknown as Question)) as StepScore).weakness;
    };
    // The log-probability is half of its range, the grounding nine tenths.
    expect(await weakness(0.5)).toBe('a token that it was unsure of');
    expect(await weakness(0.9)).toBe('a token that it was unsure of');
    expect(await weakness(0.1)).toBe('a token whose attention reaches too little of the sources');
    // It alone counts, and cannot be higher: a threshold above 1.
    expect(await weakness(0, 1)).toBe('a token whose attention reaches too little of the sources');
  });

  it('has escalated steps written by the inner system, whatever the number of candidates', async () => {
    const { run } = await routeEngine();
    const knobs = { selector: 'tokens', k: 3, tau: 1.01, inner: 'dflash' };
    const events = await run(specguard, { ...GREEDY, knobs });
    expect(committedTokens(events)).toEqual(committedTokens(await run(targetOnly, { ...GREEDY, knobs: PLAIN })));
    const drafters = new Set(events.flatMap((event) => (event.type === 'draft' ? [event.by] : [])));
    expect(drafters).toContain('dflash');
  });

  it('takes the first candidate where none is chosen, and compares hidden states otherwise', async () => {
    const { run } = await routeEngine();
    const chosen = async (selector: string) =>
      routesOf(await run(specguard, { seed: SEED, knobs: { ...KNOBS, selector, tau: 0 } })).map(
        (route) => route.chosen,
      );
    expect(new Set(await chosen('none'))).toEqual(new Set([0]));
    expect((await chosen('tokens')).some((choice) => choice !== 0)).toBe(true);
    expect((await chosen('states')).length).toBeGreaterThan(1);
  });

  it('compares the candidates as texts where there is a model for it, by itself', async () => {
    /** A text by which of its ids are odd, and how many there are. */
    const place = (text: string): Float32Array => {
      const ids = text.split(' ').map(Number);
      return Float32Array.from([ids.filter((id) => id % 2 === 1).length + 0.1, ids.length]);
    };
    const sentences: SentenceEncoder = {
      bytes: 0,
      embed: async (texts) => texts.map(place),
      [Symbol.dispose]: () => {},
    };
    const { run } = await routeEngine({ sentences, stopTokens: [STOP] });
    const events = await run(specguard, { seed: 5, maxTokens: 120, knobs: { k: 5, temperature: 0.7, tau: 0 } });
    const written = events.flatMap((event) => (event.type === 'candidates' ? [event.tokens] : []));
    const texts = written.map((step) => step.map((tokens) => tokens.join(' ')));
    const central = texts.map((step) => mostCentral(step.map(place)));
    expect(routesOf(events).map(({ chosen }) => chosen)).toEqual(central);
    expect(new Set(central).size).toBeGreaterThan(1);
    const asked = (await routeEngine()).run(specguard, { knobs: { selector: 'sentences' } });
    await expect(asked).rejects.toMatchObject({ code: 'bad-request', hint: expect.stringContaining('all-MiniLM') });
  });

  it('goes by its calibration, and says whether there is one', async () => {
    const ranges = { logprob: [-6, -1], grounding: [0, 0.5] } as const;
    const guard = { k: 2, beta: 0.5, tau: 0.5 };
    const file = {
      version: 1,
      steps: 50,
      logprob: ranges.logprob,
      grounding: { '3 layers, threshold': ranges.grounding },
    };
    const { run } = await routeEngine({ sidecar: sidecarWith(file) });
    const request = { seed: SEED, maxTokens: 120, knobs: { ...KNOBS, ...guard } };
    const events = await run(specguard, request);
    expect(events).toContainEqual(expect.objectContaining({ type: 'calibration', calibrated: true, ...ranges }));
    expect(committedTokens(events)).toEqual(guarded({ ...guard, ...ranges }, 120).tokens);
    const other = await run(specguard, { ...request, knobs: { ...request.knobs, layers: '1' } });
    expect(other).toContainEqual(
      expect.objectContaining({ type: 'calibration', calibrated: false, grounding: [0, 1] }),
    );
    const without = await run(specguard, { ...request, knobs: { ...request.knobs, beta: 1 } });
    expect(without).toContainEqual(expect.objectContaining({ type: 'calibration', calibrated: true, grounding: null }));
    const bare = await (await routeEngine()).run(specguard, request);
    expect(bare).toContainEqual(expect.objectContaining({ type: 'calibration', calibrated: false }));
  });

  it('goes on as from nothing, also where the caches held candidates that were dropped', async () => {
    const { run } = await routeEngine();
    let tokens = [...PROMPT];
    for (const maxTokens of [9, 22, 35]) {
      const request = { seed: SEED, prompt: { tokens: [...tokens, 2] }, maxTokens, knobs: { ...KNOBS, tau: 0.15 } };
      const events = await run(specguard, request);
      expect(committedTokens(events)).toHaveLength(maxTokens);
      expect(committedTokens(events)).toEqual(committedTokens(await (await routeEngine()).run(specguard, request)));
      tokens = [...request.prompt.tokens, ...committedTokens(events)];
    }
  });

  it('is usable after an abort in the middle of its candidates', async () => {
    const { engine, run } = await routeEngine();
    const request = { seed: SEED, knobs: { ...KNOBS, tau: 0.15 } };
    const whole = committedTokens(await run(specguard, request));
    for (let looks = 0; looks < 12; looks++) {
      const abort = new AbortController();
      const later = (turns: number): void => {
        if (turns > 0) setImmediate(() => later(turns - 1));
        else abort.abort();
      };
      later(looks);
      const knobs = { ...request.knobs, delimiter: DELIMITER };
      const asked = { ...request, knobs, prompt: { tokens: PROMPT }, maxTokens: 60, system: specguard.id };
      const seen: TraceEvent[] = [];
      for await (const event of engine.run(asked, abort.signal)) seen.push(event);
      const tokens = committedTokens(seen);
      expect(tokens).toEqual(whole.slice(0, tokens.length));
      expect(committedTokens(await run(specguard, request))).toEqual(whole);
    }
  });

  it('counts what its candidates cost', async () => {
    const { run } = await routeEngine();
    const events = await run(specguard, { seed: SEED, maxTokens: 120, knobs: { ...KNOBS, k: 3, tau: 0.15 } });
    const written = (by: string) =>
      events.reduce((sum, event) => sum + (event.type === 'candidates' && event.by === by ? event.written : 0), 0);
    const kept = stepsOf(events).reduce((sum, { by, tokens }) => sum + (by === 'draft' ? tokens : 0), 0);
    expect(measure(events)).toMatchObject({
      wasted: written('draft') - kept,
      drafted: written('draft'),
      target_tokens: written('target'),
    });
  });
});

/** Whole answers of up to `most` tokens. */
const answersOf = (distribution: typeof TARGET, by: 'draft' | 'target', sampling: Sampling, n: number, most: number) =>
  Array.from({ length: n }, (_, i) =>
    writeReference(distribution, by, PROMPT, candidateSampling(sampling, i), {
      delimiter: -1,
      stops: new Set([STOP]),
      most,
      context: 4096,
    }),
  );

describe.each(['draft', 'target'] as const)('answers by the %s', (by) => {
  const n = 6;
  // Few tokens, so that some answers are equal.
  const sampling = { ...SAMPLED, temperature: 0.3, topP: 0.9 };
  const own = by === 'draft' ? draftSampling(sampling) : sampling;
  const knobs = { n, by, temperature: 0.3, 'top-p': 0.9 };

  it('majority gives the first answer of the largest group', async () => {
    const { run } = await routeEngine({ stopTokens: [STOP] });
    const events = await run(majority, { ...SAMPLED, maxTokens: 8, knobs });
    const answers = answersOf(by === 'draft' ? DRAFT : TARGET, by, own, n, 8).map(({ tokens }) => tokens.join());
    const votes = answers.map((answer) => answers.filter((other) => other === answer).length);
    const most = Math.max(...votes);
    expect(most).toBeGreaterThan(1);
    expect(committedTokens(events).join()).toBe(answers[votes.indexOf(most)]);
    expect(routesOf(events)[0]).toMatchObject({ score: most / n, chosen: votes.indexOf(most) });
    expect(events.at(-1)?.type).toBe('done');
  });

  it.each(['last', 'worst'] as const)(
    'best-of-n gives the answer whose %s step has the best reward',
    async (reward) => {
      const { run } = await routeEngine({ stopTokens: [STOP] });
      const events = await run(bestOfN, { ...SAMPLED, maxTokens: 40, knobs: { ...knobs, reward, temperature: 1 } });
      const answers = answersOf(by === 'draft' ? DRAFT : TARGET, by, { ...own, temperature: 1 }, n, 40);
      const rewards = answers.map(({ tokens }) => {
        const steps: { tokens: number[]; by: typeof by }[] = [];
        let step: number[] = [];
        for (const token of tokens) {
          step.push(token);
          if (token !== DELIMITER) continue;
          steps.push({ tokens: step, by });
          step = [];
        }
        if (step.length > 0) steps.push({ tokens: step, by });
        const scores = steps.map((each, i) => toyScore('reward', PROMPT, steps.slice(0, i), each.tokens));
        return reward === 'last' ? (scores.at(-1) as number) : Math.min(...scores);
      });
      const best = rewards.indexOf(Math.max(...rewards));
      expect(committedTokens(events)).toEqual(answers[best]?.tokens);
      expect(routesOf(events)[0]).toMatchObject({ by: 'prm', chosen: best });
    },
  );

  it('best-of-n gives the first answer where the judge can read none of them', async () => {
    const { run } = await routeEngine({ stopTokens: [STOP], judgeContext: PROMPT.length });
    const events = await run(bestOfN, { ...SAMPLED, maxTokens: 40, knobs });
    const [first] = answersOf(by === 'draft' ? DRAFT : TARGET, by, own, n, 40);
    expect(committedTokens(events)).toEqual(first?.tokens);
    expect(routesOf(events)[0]).toMatchObject({ chosen: 0, score: null });
  });
});
