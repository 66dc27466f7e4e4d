// Compares every router with a reference on plain arrays, token for token, greedy and sampled. Also tests the caches,
// by what the next run makes of them, and the sums of the events.
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../engine/engine.ts';
import type { RunRequest } from '../../engine/request.ts';
import arbitrage from '../../systems/arbitrage.ts';
import autoregressive from '../../systems/autoregressive.ts';
import confidence from '../../systems/confidence.ts';
import draftOnly from '../../systems/draft-only.ts';
import oracle from '../../systems/oracle.ts';
import random from '../../systems/random.ts';
import rsd from '../../systems/rsd.ts';
import specguard from '../../systems/specguard.ts';
import targetOnly from '../../systems/target-only.ts';
import { toyLoaded } from '../../testing/contract/system-contract.ts';
import { type ReferenceRule, type ReferenceRun, routeReference } from '../../testing/toys/route.reference.ts';
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
  stepsOf,
  TARGET,
} from '../../testing/toys/route-engine.ts';
import { toyScore } from '../../testing/toys/toy-judge.ts';
import { toyModel } from '../../testing/toys/toy-model.ts';
import { committedTokens, type EventOf, measure, passesByRole, type TraceEvent } from '../../trace/index.ts';
import { stepSampling } from '../core/draft-sampling.ts';
import type { DecodingSystem } from '../core/system.ts';

type Setting = Partial<Omit<ReferenceRun, 'limits'>> & { readonly stops?: readonly number[]; readonly most?: number };

const reference = (keeps: ReferenceRule, sampling: typeof GREEDY | typeof SAMPLED, setting: Setting = {}) => {
  const { stops = [], most = 128, prompt = PROMPT, maxTokens = 60, maxSteps = 256 } = setting;
  const steps = routeReference({
    draft: DRAFT,
    target: TARGET,
    prompt,
    maxTokens,
    maxSteps,
    sampling: { draft: stepSampling(sampling), target: sampling },
    limits: { delimiter: DELIMITER, stops: new Set(stops), most, context: 4096 },
    keeps,
  });
  return { steps, tokens: steps.flatMap(({ tokens }) => tokens).slice(0, maxTokens) };
};

const problemOf = (text: readonly number[], steps: readonly { readonly tokens: readonly number[] }[]) =>
  text.slice(0, text.length - steps.reduce((sum, { tokens }) => sum + tokens.length, 0));

interface Case {
  readonly name: string;
  readonly system: DecodingSystem;
  readonly knobs: NonNullable<RunRequest['knobs']>;
  readonly keeps: ReferenceRule;
}

const reward: (threshold: number) => ReferenceRule = (threshold) => (draft, _, steps, text) =>
  toyScore('reward', problemOf(text, steps), steps, draft.tokens) >= threshold;

const CASES: readonly Case[] = [
  { name: 'rsd', system: rsd, knobs: { delta: 0.55 }, keeps: reward(0.55) },
  {
    name: 'arbitrage',
    system: arbitrage,
    knobs: { tau: 0.45 },
    keeps: (draft, _, steps, text) => toyScore('advantage', problemOf(text, steps), steps, draft.tokens) <= 0.45,
  },
  {
    name: 'oracle',
    system: oracle,
    knobs: { tau: 0.1 },
    keeps(draft, target, steps, text) {
      const [own, theirs] = [draft, target()].map(({ tokens }) =>
        toyScore('reward', problemOf(text, steps), steps, tokens),
      ) as [number, number];
      return theirs - own <= 0.1;
    },
  },
  { name: 'confidence', system: confidence, knobs: { tau: -3.2 }, keeps: ({ sure }) => sure >= -3.2 },
  { name: 'draft-only', system: draftOnly, knobs: {}, keeps: () => true },
  { name: 'target-only', system: targetOnly, knobs: {}, keeps: () => false },
];

const withInner = ({ knobs }: DecodingSystem) => (Object.hasOwn(knobs, 'inner') ? PLAIN : {});

describe.each(CASES)('$name', ({ system, knobs, keeps }) => {
  const inner = withInner(system);

  it.each([
    ['greedy', GREEDY],
    ['sampled', SAMPLED],
  ] as const)('commits what the reference commits: %s', async (_, sampling) => {
    const { run } = await routeEngine();
    let escalated = 0;
    for (const first of [0, 1, 2, 5, 8, 11]) {
      const prompt = [first, ...PROMPT];
      const events = await run(system, { prompt: { tokens: prompt }, ...sampling, knobs: { ...knobs, ...inner } });
      const expected = reference(keeps, sampling, { prompt });
      expect(committedTokens(events)).toEqual(expected.tokens);
      expect(stepsOf(events).map(({ by }) => by)).toEqual(expected.steps.map(({ by }) => by));
      escalated += expected.steps.filter(({ by }) => by === 'target').length / expected.steps.length / 6;
    }
    // Both ways, or nothing was shown; but greedy drafts are surer than drawn ones.
    if (system.id.endsWith('-only') || (system === confidence && sampling === GREEDY)) return;
    expect(escalated).toBeGreaterThan(0.02);
    expect(escalated).toBeLessThan(0.98);
  });

  it.each(['autoregressive', 'draft-model', 'prompt-lookup', 'dflash', 'blockpilot', 'eagle3', 'mtp'])(
    'is the same greedily with %s inside',
    async (name) => {
      const { run } = await routeEngine();
      for (const first of [0, 6]) {
        const prompt = [first, ...PROMPT];
        const request = { prompt: { tokens: prompt }, knobs: { ...knobs, ...('inner' in inner && { inner: name }) } };
        expect(committedTokens(await run(system, request))).toEqual(reference(keeps, GREEDY, { prompt }).tokens);
      }
    },
  );

  it('cuts its answer at max_tokens, and never changes it', async () => {
    const { run } = await routeEngine();
    const request = { ...SAMPLED, knobs: { ...knobs, ...inner } };
    const all = committedTokens(await run(system, { ...request, maxTokens: 48 }));
    for (const maxTokens of [1, 2, 7, 19, 33]) {
      const events = await run(system, { ...request, maxTokens });
      expect(committedTokens(events)).toEqual(all.slice(0, maxTokens));
      expect(events.at(-1)).toMatchObject({ finish_reason: 'length', stop: null });
      const steps = stepsOf(events);
      expect(steps.flatMap(({ ids }) => ids ?? [])).toEqual(committedTokens(events));
      for (const { ids = [], ends } of steps) expect(ends).toBe(ids.at(-1) === DELIMITER ? 'delimiter' : 'length');
    }
  });

  it('ends at a stop token inside a step, and at the most steps', async () => {
    const { run } = await routeEngine({ stopTokens: [STOP] });
    const request = { ...SAMPLED, maxTokens: 200, knobs: { ...knobs, ...inner } };
    const events = await run(system, request);
    const expected = reference(keeps, SAMPLED, { stops: [STOP], maxTokens: 200 });
    expect(committedTokens(events)).toEqual(expected.tokens);
    expect(events.at(-1)).toMatchObject({ finish_reason: 'stop', stop: STOP });
    expect(stepsOf(events).at(-1)?.ends).toBe('stop');
    const few = await run(system, { ...request, ignoreEos: true, knobs: { ...request.knobs, 'max-steps': 2 } });
    expect(committedTokens(few)).toEqual(reference(keeps, SAMPLED, { maxSteps: 2, maxTokens: 200 }).tokens);
    expect(few.at(-1)).toMatchObject({ finish_reason: 'length' });
  });

  it('ends steps at their limit', async () => {
    const { run } = await routeEngine();
    const events = await run(system, { ...SAMPLED, knobs: { ...knobs, ...inner, 'step-tokens': 3 } });
    expect(committedTokens(events)).toEqual(reference(keeps, SAMPLED, { most: 3 }).tokens);
    expect(stepsOf(events).some(({ ends }) => ends === 'length')).toBe(true);
  });

  it('leaves caches from which a conversation goes on as from nothing', async () => {
    const { run } = await routeEngine();
    let tokens = [...PROMPT];
    let read = 0;
    for (const maxTokens of [9, 14, 21]) {
      const request = { ...SAMPLED, prompt: { tokens: [...tokens, 2, 5] }, maxTokens, knobs: { ...knobs, ...inner } };
      const events = await run(system, request);
      const afresh = await routeEngine();
      expect(committedTokens(events)).toEqual(committedTokens(await afresh.run(system, request)));
      // The draft has not read a last step that the target wrote.
      expect(measure(events).reused_tokens).toBeGreaterThanOrEqual(read);
      read = request.prompt.tokens.length - 1;
      tokens = [...request.prompt.tokens, ...committedTokens(events)];
    }
  });

  it('stops anywhere when it is aborted, and runs on undisturbed afterwards', async () => {
    const { engine, run } = await routeEngine();
    const request = { ...SAMPLED, knobs: { ...knobs, ...inner } };
    const whole = committedTokens(await run(system, request));
    for (const [delay, after] of [1, 5, 9, 14, 20, 27, 35].entries()) {
      const abort = new AbortController();
      const seen: number[] = [];
      const all = { ...request.knobs, delimiter: DELIMITER };
      const asked = { ...request, prompt: { tokens: PROMPT }, maxTokens: 60, system: system.id, knobs: all };
      for await (const event of engine.run(asked, abort.signal)) {
        if (event.type === 'commit') seen.push(...event.tokens);
        const later = (turns: number): void => {
          if (turns > 0) setImmediate(() => later(turns - 1));
          else abort.abort();
        };
        if (seen.length >= after) later(delay);
      }
      expect(seen).toEqual(whole.slice(0, seen.length));
      expect(committedTokens(await run(system, request))).toEqual(whole);
    }
  });

  it('tells what it did', async () => {
    const { run } = await routeEngine();
    const events = await run(system, { ...SAMPLED, knobs: { ...knobs, ...inner } });
    const { escalates, threshold } = system;
    expect(events[0]).toMatchObject({ type: 'run', ...(escalates && { escalates, threshold }) });
    const steps = stepsOf(events);
    expect(steps.map(({ step }) => step)).toEqual(steps.map((_, i) => i + 1));
    expect(steps.flatMap(({ ids }) => ids ?? [])).toEqual(committedTokens(events));
    const metrics = measure(events);
    const expected = reference(keeps, SAMPLED).steps;
    const byTarget = expected.filter(({ by }) => by === 'target').length;
    expect(metrics.steps).toBe(expected.length);
    expect(metrics.escalation_rate).toBe(byTarget / expected.length);
    // Whatever the draft wrote was kept or wasted.
    const written = events.reduce((sum, e) => sum + (e.type === 'candidates' && e.by === 'draft' ? e.written : 0), 0);
    const kept = steps.reduce((sum, { by, tokens }) => sum + (by === 'draft' ? tokens : 0), 0);
    expect(metrics.wasted).toBe(written - kept);
    if (system.id === 'oracle') expect(metrics.target_tokens).toBeGreaterThan(metrics.tokens - kept);
    else expect(metrics.target_tokens).toBe(metrics.tokens - kept);
    const routes = routesOf(events);
    if (system.id.endsWith('-only')) return expect(routes).toEqual([]);
    expect(routes.map(({ to }) => to)).toEqual(expected.map(({ by }) => by));
    // The judged text is told before its judgement, and it is what was committed where it stayed.
    for (const [i, route] of routes.entries()) {
      const before = events.slice(0, events.indexOf(route));
      const told = before.findLast((e): e is EventOf<'candidates'> => e.type === 'candidates' && e.by === 'draft');
      expect(told?.step).toBe(i + 1);
      if (route.to === 'draft' && i < routes.length - 1) expect(told?.tokens[route.chosen ?? 0]).toEqual(steps[i]?.ids);
    }
  });
});

describe('thresholds at their ends', () => {
  it.each([
    ['rsd', rsd, { delta: 0 }, { delta: 1 }],
    ['arbitrage', arbitrage, { tau: 1 }, { tau: 0 }],
    ['confidence', confidence, { tau: -30 }, { tau: 0 }],
    ['random', random, { share: 0 }, { share: 1 }],
    ['oracle', oracle, { tau: 1 }, { tau: -1 }],
  ] as const)('%s leaves all to the draft, or all to the target', async (_, { id }, all, none) => {
    const { run } = await routeEngine();
    for (const sampling of [GREEDY, SAMPLED]) {
      const [draft, target] = [await run(draftOnly, sampling), await run(targetOnly, { ...sampling, knobs: PLAIN })];
      const extremes = [
        [all, draft],
        [none, target],
      ] as const;
      for (const [knobs, expected] of extremes)
        expect(committedTokens(await run({ id }, { ...sampling, knobs: { ...knobs, ...PLAIN } }))).toEqual(
          committedTokens(expected),
        );
    }
  });

  it('is the draft itself, or the target itself', async () => {
    const { run } = await routeEngine();
    const alone = createEngine({ systems: [autoregressive] });
    await alone.load({ target: toyLoaded(toyModel({ ...DRAFT })) });
    const own: TraceEvent[] = [];
    const request = { prompt: { tokens: PROMPT }, maxTokens: 60, ...SAMPLED, seed: stepSampling(SAMPLED).seed };
    for await (const event of alone.run(request)) own.push(event);
    expect(committedTokens(await run(draftOnly, SAMPLED))).toEqual(committedTokens(own));
    const plain = committedTokens(await run(autoregressive, SAMPLED));
    expect(committedTokens(await run(targetOnly, { ...SAMPLED, knobs: PLAIN }))).toEqual(plain);
  });
});

it.each(['dflash', 'blockpilot'])(
  'an escalated step begins with what was refused, as a draft that costs no pass: %s',
  async (inner) => {
    const { run } = await routeEngine();
    const knobs = { share: 1, inner };
    const events = await run(random, { knobs });
    expect(committedTokens(events)).toEqual(reference(() => false, GREEDY).tokens);
    const first = new Map<number, EventOf<'draft'>>();
    for (const event of events)
      if (event.type === 'draft' && event.step !== undefined && !first.has(event.step)) first.set(event.step, event);
    const refused = events.filter((event): event is EventOf<'candidates'> => event.type === 'candidates');
    // BlockPilot chooses its block size after the first step's first token, which is drawn alone.
    const shown = refused.filter(({ step }) => first.has(step) && (inner === 'dflash' || step > 1));
    expect(shown.length).toBeGreaterThan(3);
    let kept = 0;
    for (const { step, tokens } of shown) {
      const { by, passes, tokens: drafted } = first.get(step) as EventOf<'draft'>;
      expect([by, passes]).toEqual(['draft', 0]);
      expect(drafted.slice(1)).toEqual(tokens[0]?.slice(0, Math.min(15, drafted.length - 1)));
      const verify = events.find((event) => event.type === 'verify' && event.step === step) as EventOf<'verify'>;
      kept += verify.path.length - 1;
    }
    expect(kept).toBeGreaterThan(0);
  },
);

it.each(['draft-model', 'dflash', 'dspark', 'eagle3'])(
  'a step that the budget ends has the tokens of the answer and no more, where drafts are drawn: %s',
  async (inner) => {
    const { run } = await routeEngine();
    for (let maxTokens = 1; maxTokens <= 24; maxTokens++) {
      const events = await run(random, { ...SAMPLED, seed: maxTokens, maxTokens, knobs: { share: 1, inner } });
      expect(stepsOf(events).flatMap(({ ids }) => ids ?? [])).toEqual(committedTokens(events));
      expect(measure(events).target_tokens).toBe(maxTokens);
    }
  },
);

it.each([
  ['rsd, nested plain decoding', rsd, { delta: 1, ...PLAIN }],
  ['rsd, nested drafts of the draft', rsd, { delta: 0.55, inner: 'draft-model' }],
  ['rsd, nested blocks', rsd, { delta: 0.55, inner: 'dflash' }],
  ['specguard, candidates of both', specguard, { k: 3, temperature: 0.7, tau: 0.15, escalated: 'candidates' }],
] as const)('the passes of the trace are those that were made: %s', async (_, system, knobs) => {
  const { run, models } = await routeEngine();
  const long = Array.from({ length: 70 }, (_, i) => (7 * i) % 12);
  await run(system, { knobs }); // the first run of an engine also times plain rounds, which are none of the answer's
  for (const tokens of [[...PROMPT, 5], long]) {
    const before = { target: models.target.passes, draft: models.draft.passes };
    const events = await run(system, { prompt: { tokens }, knobs, maxTokens: 80 });
    for (const role of ['target', 'draft'] as const) {
      const passes = events.map((e) => (e.type === 'prefill' && e.by === role ? e.passes : passesByRole(e)[role]) ?? 0);
      expect(passes.reduce((sum, each) => sum + each)).toBe(models[role].passes - before[role]);
    }
  }
});

it('what the target writes costs it a pass for each token, the first of a step included', async () => {
  const { run } = await routeEngine();
  const events = await run(rsd, { knobs: { delta: 1, ...PLAIN } });
  expect(measure(events)).toMatchObject({ tokens: 60, target_tokens: 60, target_passes: 60 });
});

it('what writes an escalated step anew does not draw the refused one again', async () => {
  const { run } = await routeEngine();
  const events = await run(random, { ...SAMPLED, maxTokens: 1000, knobs: { share: 1, inner: 'draft-model' } });
  let refused: readonly number[] = [];
  let written: number[] = [];
  const again: boolean[] = [];
  for (const event of events) {
    if (event.type === 'candidates') [refused, written] = [event.tokens[0] ?? [], []];
    if (event.type === 'commit') written.push(...event.tokens);
    const next = refused[written.length];
    if (event.type !== 'draft' || next === undefined || !written.every((token, i) => token === refused[i])) continue;
    again.push(event.tokens[1] === next);
  }
  expect(again.length).toBeGreaterThan(10);
  expect(again).toContain(false);
});

it('random routing escalates about its share of steps, the same ones for the same seed', async () => {
  const { run } = await routeEngine();
  const share = async (seed: number) => {
    const events = await run(random, { ...SAMPLED, seed, maxTokens: 2000, knobs: { share: 0.3, ...PLAIN } });
    return { tokens: committedTokens(events), rate: measure(events).escalation_rate ?? 0 };
  };
  const [one, again, other] = [await share(1), await share(1), await share(2)];
  expect(one.tokens).toEqual(again.tokens);
  expect(one.tokens).not.toEqual(other.tokens);
  expect(Math.abs(one.rate - 0.3)).toBeLessThan(0.1);
});

it('takes the exact system that the models serve for the nested one, which chooses once', async () => {
  const { engine, run } = await routeEngine();
  const events = await run(rsd, { knobs: { delta: 1 } });
  expect(events.find((event) => event.type === 'run')?.knobs).toMatchObject({ inner: 'blockpilot' });
  expect(stepsOf(events).length).toBeGreaterThan(1);
  expect(events.filter(({ type }) => type === 'block-size')).toHaveLength(1);
  // The nested system's drafts are part of the step and count as the target's.
  expect(events.some((event) => event.type === 'draft' && event.by === 'dflash' && event.step !== undefined)).toBe(
    true,
  );
  const sources = events.flatMap((event) => (event.type === 'commit' ? event.source : []));
  expect(new Set(sources)).toEqual(new Set(['routed']));
  await expect(run(rsd, { knobs: { inner: 'rsd' } })).rejects.toThrow(/inner must be one of/);
  await engine.close();
});

it.each([
  ['rsd', rsd, { delta: 0 }],
  ['arbitrage', arbitrage, { tau: 1 }],
  ['oracle', oracle, { tau: 1 }],
] as const)('gives the target every step that the judge has no room for: %s', async (_, system, knobs) => {
  const judged = await routeEngine({ judgeContext: 40 });
  const events = await judged.run(system, { knobs: { ...knobs, ...PLAIN } });
  const unread = routesOf(events).filter(({ score }) => score === null);
  expect(unread.length).toBeGreaterThan(0);
  expect(unread.every(({ to }) => to === 'target')).toBe(true);
  expect(routesOf(events)[0]).toMatchObject({ to: 'draft' });
  expect(measure(events).tokens).toBe(60);
});

it("the oracle's time of judging is that of its judge, without the target's writing before it", async () => {
  const { run } = await routeEngine();
  const events = await run(oracle, { knobs: { tau: 1, ...PLAIN } });
  for (const { step, at, judge_ms } of routesOf(events)) {
    const written = events.find((each) => each.type === 'candidates' && each.step === step && each.by === 'target');
    expect(judge_ms).toBeLessThanOrEqual(at - (written?.at ?? 0));
  }
  expect(routesOf(events).length).toBeGreaterThan(3);
});

it('gives the target every step that the draft has no room for', async () => {
  const short = await routeEngine({ draftContext: 24 });
  const whole = await short.run(rsd, { knobs: { delta: 0, ...PLAIN } });
  expect(measure(whole).tokens).toBe(60);
  expect(stepsOf(whole).at(-1)?.by).toBe('target');
});
