import { describe, expect, it } from 'vitest';
import { median, spread } from '../../base/statistics.ts';
import type { DecodingSystem } from '../../decode/core/system.ts';
import { verifyCost } from '../../engine/verify-cost.ts';
import { SYSTEMS } from '../../systems/index.ts';
import { toyLoaded } from '../../testing/contract/system-contract.ts';
import { toyModel } from '../../testing/toys/toy-model.ts';
import type { TraceEvent } from '../../trace/index.ts';
import { formatFigure } from '../table.ts';
import { baselineOf, readEntry } from './entries.ts';
import { chosenPrompts, defaultPrompts, fitted, isRight, readPrompts } from './prompts.ts';
import { type Sample, summarise } from './summary.ts';

describe('prompts', () => {
  it('are read in every shape that published sets use', () => {
    const ask = (content: string) => ({ prompt: { messages: [{ role: 'user', content }] }, result: null });
    const lines = [
      '"plain"',
      '{"prompt":"of a code set"}',
      '{"question":"how many?","answer":"The answer is 4.","result":"4"}',
      '{"problem":"of a competition"}',
      '{"turns":["first","second"]}',
      '{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}',
      '{"tokens":[1,2,3]}',
    ];
    const expected = [
      ask('plain'),
      ask('of a code set'),
      { ...ask('how many?'), result: '4', answer: 'The answer is 4.' },
      ask('of a competition'),
      ask('first'),
      {
        prompt: {
          messages: [
            { role: 'system', content: 's' },
            { role: 'user', content: 'u' },
          ],
        },
        result: null,
      },
      { prompt: { tokens: [1, 2, 3] }, result: null },
    ];
    expect(readPrompts(`${lines.join('\n')}\n\n`, 'f')).toEqual(expected);
    expect(readPrompts(`[${lines.join(',')}]`, 'f')).toEqual(expected);
  });

  it('are those of one category, where a set has several', () => {
    const lines = '{"turns":["a"],"category":"qa"}\n{"turns":["b"],"category":"summarization"}\n"c"';
    expect(readPrompts(lines, 'f', { category: 'summarization' }).map(({ prompt }) => prompt)).toEqual([
      { messages: [{ role: 'user', content: 'b' }] },
    ]);
  });

  it('are chosen by offset and limit', () => {
    const all = readPrompts('"a"\n"b"\n"c"', 'f');
    expect(chosenPrompts(all, {})).toEqual(all);
    expect(chosenPrompts(all, { offset: 1, limit: 1 })).toEqual([all[1]]);
    expect(() => chosenPrompts(all, { offset: 3 })).toThrow('--offset 3 leaves out all 3 prompts');
  });

  it('name the line that is wrong', () => {
    expect(() => readPrompts('"ok"\n{"x":1}', 'f.jsonl')).toThrow('f.jsonl:2 has no prompt');
    expect(() => readPrompts('"ok"\n\n{', 'f.jsonl')).toThrow('f.jsonl:3: not JSON');
  });

  it('are judged by the exact final answer', () => {
    const [four] = readPrompts('{"question":"q","result":"4"}', 'f');
    const right = (text: string | null) => four && isRight(four, text);
    expect(right('2 + 2 = 4.\n\nThe answer is 4.')).toBe(true);
    expect(right('The answer is 4.\n')).toBe(true);
    for (const wrong of ['The answer is 44.', 'The answer is 4. Or 5.', '4', '', null])
      expect(right(wrong)).toBe(false);
    expect(isRight({ prompt: { tokens: [1] }, result: null }, 'The answer is 4.')).toBeNull();
  });

  it('fit a model without a tokenizer', () => {
    const bare = toyLoaded(toyModel({ vocabulary: 9, sharpness: 1 }));
    for (const { prompt } of defaultPrompts(bare)) {
      expect(fitted(prompt, bare)).toBe(prompt);
      expect('tokens' in prompt && prompt.tokens.every((token) => token >= 0 && token < 9)).toBe(true);
    }
  });
});

describe('a figure', () => {
  it('has three digits and no exponent', () => {
    expect([0.5, 9.876, 38.21, 999.4, 1723.4, 25_678].map(formatFigure)).toEqual([
      '0.500',
      '9.88',
      '38.2',
      '999',
      '1720',
      '25700',
    ]);
  });
});

describe('statistics', () => {
  it('are medians and ranges', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(spread([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
    expect(spread([])).toBeNull();
  });
});

/** A run of `rounds` rounds, each of which drafted `drafted` tokens, kept `kept`, and took `ms`. */
const sample = (key: string, prompt: number, rounds: number, drafted: number, kept: number, ms: number): Sample => {
  const events: TraceEvent[] = [
    { at: 0, type: 'run', version: 1, system: 'x', knobs: {}, seed: 0, prompt: [1] },
    { at: 10, type: 'prefill', by: 'target', rows: 1, reused: 0, ms: 10 },
    { at: 10, type: 'commit', round: 0, tokens: [0], source: ['sampled'], text: '', logprobs: null, ms: 10 },
    { at: 10, type: 'kernels', round: 0, dispatches: 99, submits: 9, readbacks: 1, spans: [] },
  ];
  for (let round = 1; round <= rounds; round++) {
    const at = 10 + round * ms;
    const nodes = Array.from({ length: drafted + 1 }, (_, i) => i);
    const path = nodes.slice(0, kept + 1);
    const parents = nodes.map((i) => i - 1);
    if (drafted > 0)
      events.push({ at, type: 'draft', round, by: 'draft', tokens: nodes, parents, passes: drafted, ms: 1 });
    events.push({ at, type: 'verify', round, by: 'target', path, next: 5, source: 'bonus', ms });
    const tokens = path.map(() => 5);
    events.push({ at, type: 'commit', round, tokens, source: [], text: '', logprobs: null, ms });
    events.push({ at, type: 'kernels', round, dispatches: 30, submits: 1, readbacks: 1, spans: [] });
  }
  return { key, prompt, events, right: prompt === 0, peakBytes: 1000 + prompt };
};

describe('a baseline', () => {
  it('is plain decoding, or the plain ensemble with the same combination', () => {
    const entry = (id: string, knobs = {}) => ({
      system: SYSTEMS.find((each) => each.id === id) as DecodingSystem,
      knobs,
    });
    expect(baselineOf(entry('dflash')).name).toBe('autoregressive');
    expect(baselineOf(entry('cos', { gamma: [1] }))).toMatchObject({ name: 'ensemble', knobs: {} });
    const uneven = baselineOf(entry('cos-naive', { gamma: 3, lambda: [0.2, 0.8], combine: 'weighted' }));
    expect(uneven.name).toBe('ensemble:lambda=0.2/0.8:combine=weighted');
    expect(uneven.knobs).toEqual({ lambda: [0.2, 0.8], combine: 'weighted' });
  });
});

describe('an entry', () => {
  it('is a system with settings, as it is written', () => {
    expect(readEntry('dflash:block-size=4:draft=greedy')).toMatchObject({
      system: { id: 'dflash' },
      knobs: { 'block-size': 4, draft: 'greedy' },
    });
    expect(readEntry('cos:lambda=0.3/0.7').knobs).toEqual({ lambda: [0.3, 0.7] });
  });

  it('names what is wrong with it', () => {
    expect(() => readEntry('warp')).toThrow('there is no system "warp"');
    expect(() => readEntry('dflash:block-size')).toThrow('"block-size" is not KNOB=VALUE');
    expect(() => readEntry('dflash:speed=9')).toThrow('dflash has no knob "speed"');
  });
});

describe('a system’s line', () => {
  const plain = [sample('0/0', 0, 8, 0, 0, 10), sample('0/1', 1, 8, 0, 0, 10)];
  const ceiling = { bytes: { target: 1e6, draft: 1e5 }, bandwidth: 1e9 };
  const baseline = { name: 'autoregressive', samples: plain };

  it('sets plain decoding against itself and its ceiling', () => {
    expect(summarise({ id: 'autoregressive', equal: true }, plain, baseline, ceiling)).toEqual({
      system: 'autoregressive',
      baseline: 'autoregressive',
      speedup: { median: 1, min: 1, max: 1 },
      tokens_per_second: { median: 100, min: 100, max: 100 },
      tokens_per_round: 1,
      passes_per_token: 1,
      acceptance_by_slot: [],
      dispatches_per_token: 30,
      submits_per_token: 1,
      readbacks_per_token: 1,
      readback_bytes_per_round: 0,
      fall_backs: 0,
      bandwidth_share: 0.1,
      lossless: true,
      accuracy: 0.5,
      escalation_rate: null,
      useless_escalations: null,
      target_tokens: 18,
      judge_ms: null,
      answer_ms: null,
      answer_speedup: null,
      whole_answers: { speedup: null, total_ms: null, total_speedup: null },
      accuracy_ratio: 1,
      intervals: {
        speedup: [1, 1],
        tokens_per_second: [100, 100],
        tokens_per_round: [1, 1],
        accuracy: [0, 1],
        accuracy_ratio: [1, 1],
        escalation_rate: null,
        useless_escalations: null,
        target_tokens: [18, 18],
        answer_ms: null,
        answer_speedup: null,
        total_ms: null,
        total_speedup: null,
      },
      peak_bytes: 1001,
      prompts: [0, 1].map((prompt) => ({
        prompt,
        tokens: { median: 9, min: 9, max: 9 },
        prefill_ms: { median: 10, min: 10, max: 10 },
        decode_ms: { median: 80, min: 80, max: 80 },
        tokens_per_second: { median: 100, min: 100, max: 100 },
        tokens_per_round: { median: 1, min: 1, max: 1 },
        block_size: null,
        right: Number(prompt === 0),
      })),
    });
  });

  it('gives speed-up, acceptance by slot and work a token of a speculative one', () => {
    const samples = [sample('0/0', 0, 2, 3, 3, 20), sample('0/1', 1, 4, 3, 1, 20)];
    const report = summarise({ id: 'x', equal: true }, samples, baseline, ceiling);
    expect(report).toMatchObject({
      speedup: { min: 1, max: 2, median: 1.5 },
      tokens_per_round: 16 / 6,
      passes_per_token: (6 + 18) / 16,
      lossless: true,
    });
    expect(report.acceptance_by_slot).toEqual([1, 2 / 6, 2 / 6]);
    expect(report.dispatches_per_token).toBe((6 * 30) / 16);
  });

  it('counts neither forced text nor what is drafted inside a step among the drafts by slot', () => {
    const [one] = plain as [Sample];
    const draft = {
      at: 20,
      type: 'draft',
      by: 'dflash',
      tokens: [0, 1, 2],
      parents: [-1, 0, 1],
      passes: 1,
      ms: 1,
    } as const;
    const verify = { at: 30, type: 'verify', by: 'target', next: 5, source: 'corrected', ms: 1 } as const;
    const events: TraceEvent[] = [
      { ...draft, round: 1, step: 1 },
      { ...verify, round: 1, step: 1, path: [0, 1, 2] },
      { ...draft, round: 2, by: 'constraint', passes: 0 },
      { ...verify, round: 2, path: [0, 1, 2] },
      { ...draft, round: 3, forced: 1 },
      { ...verify, round: 3, path: [0, 1] },
      { ...draft, round: 4 },
      { ...verify, round: 4, path: [0, 1] },
    ];
    const report = summarise({ id: 'x', equal: true }, [{ ...one, events }], baseline, ceiling);
    expect(report.acceptance_by_slot).toEqual([1 / 2, 0]);
  });

  it('compares whole answers from the request on', () => {
    const done = { type: 'done', finish_reason: 'stop', stop: null, text: '' } as const;
    const ended = (each: Sample, at: number): Sample => ({ ...each, events: [...each.events, { ...done, at }] });
    const [first, second] = plain as [Sample, Sample];
    const held = { ...baseline, samples: [ended(first, 300), ended(second, 200)] };
    const report = summarise({ id: 'x', equal: true }, [ended(first, 100), ended(second, 200)], held, ceiling);
    expect(report.answer_speedup).toEqual({ min: 1, median: 2, max: 3 });
    expect(report.whole_answers).toEqual({ speedup: report.answer_speedup, total_ms: 300, total_speedup: 500 / 300 });
    expect(report.intervals.total_speedup).toEqual([1, 3]);
  });

  it('is divided by the figures of another system on the same prompts', () => {
    const many = (rounds: (prompt: number) => number) =>
      Array.from({ length: 40 }, (_, prompt) => sample(`0/${prompt}`, prompt, rounds(prompt), 0, 0, 10));
    const reference = { name: 'slow', samples: many((prompt) => 4 + (prompt % 5)) };
    const twice = many((prompt) => 2 * (4 + (prompt % 5)) + 1);
    const { against } = summarise({ id: 'x', equal: false }, twice, baseline, ceiling, reference);
    // Each prompt has twice the tokens, so the ratio has no spread although the prompts differ.
    expect(against).toMatchObject({ system: 'slow', ratios: { target_tokens: 2, accuracy: 1, total_ms: null } });
    expect(against?.intervals.target_tokens).toEqual([2, 2]);
    expect(summarise({ id: 'x', equal: false }, twice, baseline, ceiling).against).toBeUndefined();
  });

  it('has no accuracy where the token budget cut every answer off', () => {
    const done = { at: 99, type: 'done', finish_reason: 'length', stop: null, text: '' } as const;
    const cut = plain.map((each) => ({ ...each, right: false, events: [...each.events, done] }));
    const accuracy = (samples: readonly Sample[]) =>
      summarise({ id: 'x', equal: true }, samples, baseline, ceiling).accuracy;
    expect(accuracy(cut)).toBeNull();
    expect(accuracy([cut[0] as Sample, plain[1] as Sample])).toBe(0);
    // The last sentence fits, and only the end-of-text token does not.
    expect(accuracy([{ ...(cut[0] as Sample), right: true }, cut[1] as Sample])).toBe(0.5);
  });

  it('counts for an ensemble what was decided on, and the passes of every member', () => {
    const [{ key, prompt, right, peakBytes }] = plain as [Sample];
    const draft = { at: 20, type: 'draft', by: 'draft', passes: 1, parents: [-1, 0], tokens: [1, 2], ms: 1 } as const;
    const verify = { at: 30, type: 'verify', by: 'target', next: 5, ms: 1 } as const;
    const commit = { at: 30, type: 'commit', source: [], text: '', logprobs: null, ms: 10 } as const;
    const events: TraceEvent[] = [
      { at: 10, type: 'prefill', by: 'target', rows: 1, reused: 0, ms: 10 },
      { ...draft, round: 1 },
      { ...draft, by: 'target', round: 1 },
      { ...verify, round: 1, path: [0, 1], source: 'drafted', checked: ['draft'], passes: {} },
      { ...commit, round: 1, tokens: [2] },
      { ...draft, round: 2 },
      { ...verify, round: 2, path: [0], source: 'corrected', checked: ['target'], passes: { target: 1 } },
      { ...commit, at: 40, round: 2, tokens: [5] },
    ];
    const report = summarise(
      { id: 'cos', equal: true },
      [{ key, prompt, right, peakBytes, events }],
      baseline,
      ceiling,
    );
    expect(report).toMatchObject({ passes_per_token: 2, acceptance_by_slot: [0.5] });
    expect(report.bandwidth_share).toBeCloseTo((2 * 1e6 + 2 * 1e5) / (0.03 * 1e9));
  });

  it('counts every run of a prompt among its right answers', () => {
    const [one] = plain as [Sample];
    const runs = [true, false, false, true].map((isRight, i) => ({ ...one, key: `${i}/0`, prompt: 0, right: isRight }));
    const rightOf = (samples: readonly Sample[]) =>
      summarise({ id: 'x', equal: false }, samples, baseline, ceiling).prompts.map(({ right }) => right);
    expect(rightOf(runs)).toEqual([0.5]);
    expect(rightOf([{ ...one, right: null }])).toEqual([null]);
  });

  it('notices one token that differs', () => {
    const [first, second] = plain as [Sample, Sample];
    const changed = second.events.map((e) => (e.type === 'commit' && e.round === 8 ? { ...e, tokens: [6] } : e));
    const samples = [first, { ...second, events: changed }];
    expect(summarise({ id: 'x', equal: true }, samples, baseline, ceiling).lossless).toBe(false);
    expect(summarise({ id: 'x', equal: false }, samples, baseline, ceiling).lossless).toBeNull();
  });
});

describe('verify cost', () => {
  it('times every M against one row', async () => {
    const model = toyModel({ vocabulary: 200, sharpness: 1 });
    const { relative, milliseconds } = await verifyCost(model, 3);
    expect(Object.keys(relative)).toEqual(['1', '2', '4', '8', '12', '16']);
    expect(relative['1']).toBe(1);
    expect((milliseconds['16'] ?? 0) / (milliseconds['1'] ?? 1)).toBeCloseTo(relative['16'] ?? 0);
    // 32 rows of prompt, then 1 + 2 + 4 + 8 + 12 + 16 rows in each of the rounds and the warm-up.
    expect(model.rows).toBe(32 + 4 * 43);
  });
});
