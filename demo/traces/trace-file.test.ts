import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { committedTokens, measure, type TraceEvent } from '../../src/trace/index.ts';
import { decodeTrace, encodeTrace, readTrace, type TraceFile, writeTrace } from './trace-file.ts';

const recorded = (name: string): string => readFileSync(join(import.meta.dirname, '../../public/traces', name), 'utf8');

const problem = { question: 'How many trees? “3 × 5 ≠ 16”', answer: 'It is 15.', result: '15' };
const run = readTrace(recorded('problem-1.jsonl')).events;
const plain = readTrace(recorded('problem-1-plain.jsonl')).events;
const whole: TraceFile = { title: 'DFlash', problem, device: 'llvmpipe', events: run, plain };

const line = (event: object): string => JSON.stringify({ at: 1, ...event });
const begin = { type: 'run', version: 1, system: 'x', knobs: {}, seed: 0, prompt: [1] };
const done = { type: 'done', finish_reason: 'stop', stop: null, text: '' };

test('the output of the command line opens, without a header', () => {
  const { title, events, plain: plainRun } = readTrace(recorded('problem-2.jsonl'));
  expect(title).toBe('EAGLE-3');
  expect(events).toHaveLength(recorded('problem-2.jsonl').trim().split('\n').length);
  expect(plainRun).toBeUndefined();
});

test('a published model with its drafter: the recorded answer is the plain one, in far fewer rounds', () => {
  const file = join(import.meta.dirname, '../../docs/results/smollm2-eagle3.jsonl');
  const { title, events, plain: plainRun } = readTrace(readFileSync(file, 'utf8'));
  expect(title).toBe('EAGLE-3');
  expect(committedTokens(events)).toEqual(committedTokens(plainRun ?? []));
  expect(measure(events).tokens_per_round).toBeGreaterThan(2.5);
});

test('a file keeps both runs, the problem and the device', () => {
  expect(readTrace(writeTrace(whole))).toEqual(whole);
  const { plain: _, ...alone } = whole;
  expect(readTrace(writeTrace(alone))).toEqual(alone);
  expect(readTrace(writeTrace(whole).replaceAll('\n', '\r\n\r\n'))).toEqual(whole);
});

test('an address keeps all but counts of dispatches and digits that the page does not show', async () => {
  const address = await encodeTrace(whole);
  expect(address).toMatch(/^[\w-]+$/);
  expect(address.length).toBeLessThan(8192);
  const { events, ...about } = await decodeTrace(address);
  expect({ ...about, plain: null }).toEqual({ title: 'DFlash', problem, device: 'llvmpipe', plain: null });
  const shared = run.filter(({ type }) => type !== 'kernels');
  expect(events.map(({ type }) => type)).toEqual(shared.map(({ type }) => type));
  const text = (all: readonly TraceEvent[]) => all.flatMap((event) => (event.type === 'commit' ? event.tokens : []));
  expect(text(events)).toEqual(text(run));
  for (const [i, { at }] of events.entries()) expect(at).toBeCloseTo(shared[i]?.at ?? 0, 1);
});

test('an address keeps a short document, a file any', async () => {
  const [short, long] = ['a page', 'a page '.repeat(100)].map((document) => ({ ...whole, document })) as [
    TraceFile,
    TraceFile,
  ];
  expect((await decodeTrace(await encodeTrace(short))).document).toBe('a page');
  expect((await decodeTrace(await encodeTrace(long))).document).toBeUndefined();
  expect(readTrace(writeTrace(long)).document).toBe(long.document);
});

test('an address keeps kernel times', async () => {
  const kernels = { at: 2, type: 'kernels', round: 0, dispatches: 1, submits: 1, readbacks: 1, spans: [] };
  const timed = { ...kernels, spans: [{ name: 'matmul', ms: 1.5 }] };
  const events = [run[0], kernels, timed, run.at(-1)] as TraceEvent[];
  const types = (await decodeTrace(await encodeTrace({ title: '', events }))).events.map(({ type }) => type);
  expect(types).toEqual(['run', 'kernels', 'done']);
});

test('an unknown type of event is passed on', () => {
  const later = line({ type: 'dream', about: 'sheep' });
  expect(readTrace([line(begin), later, line(done)].join('\n')).events[1]).toMatchObject({ about: 'sheep' });
});

test.each([
  ['', /it has no events/],
  ['{"at":1,"type":"run"', /line 1: it is not JSON/],
  ['GGUF\u0003…', /line 1: it is not JSON: GGUF/],
  ['[1, 2]', /line 1: it is not an object/],
  [`${line(begin)}\nnull`, /line 2: it is not an object/],
  [`${line(begin)}\n\n{"type":"commit"}`, /line 3: its time \(at\) is not a number/],
  [`${line(begin)}\n${line({ type: 'commit', round: 1, tokens: 7 })}`, /line 2: the tokens of a commit event .* list/],
  [line({ ...begin, version: 2 }), /line 1: the version of a run event must be 1/],
  [line({ ...begin, models: { target: 1 } }), /line 1: the models of a run event .* text/],
  [`{"outrider":"trace","version":9}\n${line(begin)}`, /line 1: version 9/],
  [line(done), /no run begins in it/],
  [[begin, done, done].map(line).join('\n'), /nothing but a second run may follow done/],
])('%j is refused with the reason', (text, reason) => {
  expect(() => readTrace(text)).toThrow(reason);
});

test('a truncated address is refused', async () => {
  const address = await encodeTrace(whole);
  for (const wrong of [address.slice(0, -40), address.slice(40), 'not!base64', ''])
    await expect(decodeTrace(wrong)).rejects.toThrow(/incomplete|no events/);
});

test('an address that would fill the memory is refused while it is inflated', async () => {
  const packed = await new Response(
    new Blob([new Uint8Array(2 ** 25)]).stream().pipeThrough(new CompressionStream('deflate-raw')),
  ).arrayBuffer();
  const address = btoa(String.fromCharCode(...new Uint8Array(packed)))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
  expect(address.length).toBeLessThan(50_000);
  await expect(decodeTrace(address)).rejects.toMatchObject({ code: 'bad-trace', message: /longer than 16 MB/ });
});

test('a draft tree whose parents form a cycle is a bad trace', async () => {
  const draft = { type: 'draft', round: 1, by: 'draft', tokens: [1, 2, 3], parents: [-1, 2, 1], passes: 1, ms: 1 };
  const events = [line(begin), line(draft), line(done)].join('\n');
  expect(() => readTrace(events)).toThrow(expect.objectContaining({ code: 'bad-trace' }));
});
