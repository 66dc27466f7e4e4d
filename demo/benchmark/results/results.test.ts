// Results: from runs to a file and back, as Markdown, and compared with each other.
import { describe, expect, it } from 'vitest';
import { PLAIN, readEntry } from '../../../src/cli/bench/report.ts';
import type { TraceEvent } from '../../../src/trace/index.ts';
import { type Plan, type Row, rowsOf } from '../queue/plan.ts';
import { costChart } from './chart-specs.ts';
import { COLUMNS } from './columns.ts';
import { compare } from './compare.ts';
import { markdownOf } from './markdown.ts';
import { type ResultFile, readResult, resultFileOf } from './result-file.ts';
import type { ResultRow } from './result-row.ts';
import { barText } from './speed-bars.ts';

const counted = { dispatches: 20, submits: 3, maps: 3, bindGroups: 0, bytes: 900, peakBytes: 2_000_000 };

const ask = (content: string) => ({ prompt: { messages: [{ role: 'user' as const, content }] }, result: '4' });

const plan = (systems: readonly string[], temperature = 0): Plan => ({
  model: 'target',
  precision: '',
  suite: 'own',
  prompts: [ask('two and two?'), ask('a | b?')],
  maxTokens: 8,
  repeat: 1,
  temperature,
  seed: 0,
  systems: systems.map(readEntry),
  peers: [
    {
      name: 'transformers.js, webgpu, f32',
      model: { name: 'target', base: '/peers/', dtype: 'fp32', device: 'webgpu' },
      same: true,
    },
  ],
  setup: () => ({ sources: {}, precision: undefined, base: '/' }),
});

/** Tokens 1… in rounds of `size`, `ms` each. */
const run = (rounds: number, size: number, ms: number, first = 1): TraceEvent[] => {
  const at = 10;
  const events: TraceEvent[] = [
    { at: 0, type: 'run', version: 1, system: 'x', knobs: {}, seed: 0, prompt: [7, 8] },
    { at, type: 'prefill', by: 'target', rows: 2, reused: 0, ms: 10 },
    { at, type: 'commit', round: 0, tokens: [first], source: ['sampled'], text: '', logprobs: null, ms: 10 },
  ];
  for (let round = 1; round <= rounds; round++) {
    const tokens = Array.from({ length: size }, (_, i) => 1 + (round - 1) * size + i);
    const now = at + round * ms;
    events.push({ at: now, type: 'verify', round, by: 'target', path: [0], next: 1, source: 'sampled', ms });
    events.push({ at: now, type: 'commit', round, tokens, source: [], text: '', logprobs: null, ms });
    events.push({ at: now, type: 'kernels', round, dispatches: 5, submits: 1, readbacks: 1, spans: [] });
  }
  const text = 'The answer is 4.';
  return [...events, { at: at + rounds * ms, type: 'done', finish_reason: 'length', stop: null, text }];
};

const add = (row: Row | undefined, owner: string, events: readonly TraceEvent[], prompt = 0): void => {
  row?.samples.push({
    key: `${owner}/0/${prompt}`,
    prompt,
    repetition: 0,
    events,
    counted,
    right: true,
    peakBytes: counted.peakBytes,
  });
};

const device = {
  vendor: 'google',
  architecture: 'swiftshader',
  description: 'SwiftShader',
  software: true,
  features: [],
  limits: {},
  bandwidth_gb_per_second: 1,
  multiply_add_gflops: 5,
  passes: { model: 'target', bytes: 10, relative: { '1': 1, '8': 1.5 }, milliseconds: { '1': 2, '8': 3 } },
};

const result = (ms = 10, other = 1): ResultFile => {
  const asked = plan(['dflash:block-size=4']);
  const rows = rowsOf(asked);
  const [plain, fast, peer] = rows;
  add(plain, 'dflash:block-size=4', run(6, 1, 10));
  add(fast, 'dflash:block-size=4', run(3, 2, ms, other));
  add(plain, 'transformers.js, webgpu, f32', run(6, 1, 10));
  add(peer, 'transformers.js, webgpu, f32', run(6, 1, 40));
  if (fast) fast.host = { bytes: 3_000_000, by: 'performance.memory' };
  const cell = fast?.cells[1];
  if (cell)
    Object.assign(cell, { state: 'failed', fault: { code: 'device-lost', message: 'the GPU was lost', hint: '' } });
  return resultFileOf(asked, rows, device, { version: '1.2.3', browser: 'Browser 9', made: new Date(0) });
};

describe('rows', () => {
  it('are plain decoding, the systems and the peers, each with its baseline', () => {
    const rows = rowsOf(plan(['dflash', 'cos']));
    expect(rows.map(({ name, runsWithOthers }) => [name, runsWithOthers])).toEqual([
      ['autoregressive', true],
      ['dflash', false],
      ['ensemble', true],
      ['cos', false],
      ['transformers.js, webgpu, f32', false],
    ]);
    expect(rows.map(({ baseline }) => baseline?.system.id ?? null)).toEqual([
      null,
      PLAIN.name,
      null,
      'ensemble',
      PLAIN.name,
    ]);
  });

  it('of plain decoding alone are no baseline', () => {
    const alone = rowsOf({ ...plan([]), peers: [] });
    expect(alone.map(({ name, runsWithOthers }) => [name, runsWithOthers])).toEqual([['autoregressive', false]]);
  });

  it('have figures of neighbouring runs, and errors', () => {
    const { rows } = result();
    const [plain, fast, peer] = rows;
    expect(plain).toMatchObject({ system: PLAIN.name, speedup: { median: 1 }, lossless: true, runs: 2 });
    expect(fast).toMatchObject({
      title: 'DFlash (block-size=4)',
      speedup: { median: 2 },
      tokens_per_round: 2,
      lossless: true,
      faults: [{ prompt: 1, message: 'the GPU was lost' }],
    });
    expect(peer).toMatchObject({ guarantee: 'peer', speedup: { median: 0.25 }, lossless: true });
    expect(result(10, 99).rows[1]?.lossless).toBe(false);
  });
});

describe('a file', () => {
  it('has the whole plan, and reads back unchanged', () => {
    const file = result();
    const read = readResult(JSON.stringify(file), 'a.json');
    expect(read).toEqual(JSON.parse(JSON.stringify(file)));
    expect(read.plan).toMatchObject({
      systems: [{ name: 'dflash:block-size=4', system: 'dflash', knobs: { 'block-size': 4 } }],
      max_tokens: 8,
      seed: 0,
    });
    expect(read.plan.prompts[1]?.prompt).toEqual(ask('a | b?').prompt);
    expect(read.runs[0]).toMatchObject({
      system: PLAIN.name,
      prompt_tokens: [7, 8],
      tokens: [1, 1, 2, 3, 4, 5, 6],
      counted,
    });
  });

  it.each([
    ['{', 'a.json: it is not JSON'],
    ['[]', 'a.json: it is not a result of this page'],
    ['{"outrider":"benchmark","version":2}', 'version 2 of the format'],
    ['{"outrider":"benchmark","version":1}', 'no plan with a model'],
    ['{"outrider":"benchmark","version":1,"plan":{"model":"m"}}', 'no rows'],
    ['{"outrider":"benchmark","version":1,"plan":{"model":"m"},"rows":[{}]}', 'row 1 has no system'],
    ['{"outrider":"benchmark","version":1,"plan":{"model":"m"},"rows":[]}', 'its plan has no prompts'],
    [
      '{"outrider":"benchmark","version":1,"plan":{"model":"m","prompts":[]},"rows":[]}',
      'it does not say which software it measured',
    ],
    [
      '{"outrider":"benchmark","version":1,"plan":{"model":"m"},"rows":[{"system":"s","speedup":2}]}',
      'row 1 (s): tokens_per_second has no median and range',
    ],
  ])('says what is wrong with %s', (text, message) => {
    expect(() => readResult(text, 'a.json')).toThrow(message);
  });
});

describe('Markdown', () => {
  it('has the plan, the device, the table and the errors', () => {
    const text = markdownOf(result());
    expect(text).toContain('## Outrider 1.2.3, 1970-01-01');
    expect(text).toContain('- Device: SwiftShader · google · swiftshader · software');
    expect(text).toContain('T(M)/T(1) of target: 1: 1.00, 8: 1.50');
    expect(text).toContain('| DFlash (block-size=4) | 200 | 2.00 | 2.00 | ✓ same tokens |');
    expect(text).toContain('- DFlash (block-size=4), prompt 2: the GPU was lost');
    expect(text).toContain('| 3.0 MB |');
    expect(text).toContain('by performance.memory, which does not count workers');
    const table = text.split('\n').filter((line) => line.startsWith('|'));
    expect(new Set(table.map((line) => line.split('|').length)).size).toBe(1);
  });
});

describe('two results', () => {
  it('are compared row by row, with a ratio of the second to the first', () => {
    const { differences, rows } = compare(result(10), result(5));
    expect(differences).toEqual([]);
    expect(rows[1]).toMatchObject({ title: 'DFlash (block-size=4)', first: 200, second: 400, speed: 2, apart: true });
    expect(rows[0]).toMatchObject({ speed: 1, apart: false });
  });

  it('name their differences, and leave gaps for rows that one of them lacks', () => {
    const [a, b] = [result(), result()];
    const other = {
      ...b,
      plan: { ...b.plan, model: 'mid', prompts: [...b.plan.prompts].reverse() },
      rows: b.rows.slice(0, 1),
    };
    const { differences, rows } = compare(a, other);
    expect(differences).toEqual(['Model: first target, second mid', 'Prompts: different texts']);
    expect(rows[1]).toMatchObject({ first: 200, second: null, speed: null });
  });
});

it('the cost chart has only systems with judged answers, and there is none where all answers are the same', () => {
  const { rows: exact } = result();
  expect(costChart(exact, 'target')).toBeNull();
  const isDflash = ({ system }: ResultRow): boolean => system.startsWith('dflash');
  const rows = exact.map((row) => (isDflash(row) ? { ...row, guarantee: 'approximate' as const } : row));
  expect(costChart(rows, 'target')?.series.map(({ label }) => label)).toEqual([
    'Plain decoding',
    'DFlash (block-size=4)',
  ]);
  expect(
    costChart(
      rows.map((row) => ({ ...row, accuracy: null })),
      'time',
    ),
  ).toBeNull();
});

it('answers that were cut off are said to be, and are neither right nor wrong', () => {
  const accuracy = COLUMNS.find(({ title }) => title === 'Accuracy');
  const [, row] = result().rows as [ResultRow, ResultRow];
  expect(row).toMatchObject({ runs: 1, cut_off: 1 });
  expect(accuracy?.text({ ...row, accuracy: null })).toBe('cut off');
  expect(accuracy?.text({ ...row, accuracy: 0.5, runs: 2 })).toBe('50 %, 1 of 2 cut off');
  expect(accuracy?.text({ ...row, accuracy: 0.5, runs: 2, cut_off: 0 })).toBe('50 %');
});

it('a bar names its speed and the ratio to its baseline', () => {
  const [plain, fast] = result().rows as [ResultRow, ResultRow];
  expect(barText(plain)).toBe('100 tokens/s');
  expect(barText(fast)).toBe('200 tokens/s, 2.00× plain decoding');
  expect(barText({ ...fast, tokens_per_second: null })).toBe('not measured yet');
});
