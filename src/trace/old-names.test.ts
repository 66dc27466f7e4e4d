// A trace that was recorded under the old names reads as one of today.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type EventOf, measure, type TraceEvent, thresholdOf, withNewNames } from './index.ts';

const text = readFileSync(new URL('./fixtures/arbitrage-0.1.jsonl', import.meta.url), 'utf8');
const old = text
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as TraceEvent);
const read = old.map(withNewNames);
const run = (events: readonly TraceEvent[]) => events.find((event) => event.type === 'run') as EventOf<'run'>;

it('says how a step router escalates, which its old trace did not', () => {
  expect(thresholdOf(run(old))).toBeNull();
  expect(thresholdOf(run(read))).toEqual({ escalates: 'high', threshold: 'tau' });
  const rule = thresholdOf(run(read));
  for (const event of read)
    if (event.type === 'route' && event.score !== null)
      expect(rule?.escalates === 'high' ? event.score > event.threshold : event.score < event.threshold).toBe(
        event.to === 'target',
      );
});

it('gives kernels their names of today', () => {
  const event: TraceEvent = {
    at: 1,
    type: 'kernels',
    round: 1,
    dispatches: 3,
    submits: 1,
    readbacks: 1,
    spans: ['gauge', 'law', 'matmul'].map((name) => ({ name, ms: 1 })),
  };
  const { spans } = withNewNames(event) as EventOf<'kernels'>;
  expect(spans.map(({ name }) => name)).toEqual(['softmax-statistics', 'distribution', 'matmul']);
  expect(withNewNames({ ...event, spans })).toEqual({ ...event, spans });
});

it('leaves all else, and every figure, as it was', () => {
  const others = (events: readonly TraceEvent[]) => events.filter(({ type }) => type !== 'run' && type !== 'kernels');
  expect(others(read)).toEqual(others(old));
  expect(measure(read)).toEqual(measure(old));
  expect(read.map(withNewNames)).toEqual(read);
});
