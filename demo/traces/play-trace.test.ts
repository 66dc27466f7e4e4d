import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finishOf } from '../run/finish.ts';
import { outcomeOf } from '../run/outcome.ts';
import { entryOf } from './play-trace.ts';
import { decodeTrace, encodeTrace, readTrace, type TraceFile, writeTrace } from './trace-file.ts';

const eventsOf = (name: string) =>
  readTrace(readFileSync(join(import.meta.dirname, '../../public/traces', name), 'utf8')).events;

const finish = (file: TraceFile): string =>
  finishOf([{ run: outcomeOf(file.events), plain: outcomeOf(file.plain ?? []) }], entryOf(file, 1)).sentence;

test('other tokens than those of plain decoding are a fault of an exact system, unless they were drawn', async () => {
  const file: TraceFile = {
    title: 'DFlash',
    events: eventsOf('problem-1.jsonl'),
    plain: eventsOf('problem-2-plain.jsonl'),
  };
  const drawn: TraceFile = { ...file, sampled: true };
  expect(finish(readTrace(writeTrace(file)))).toContain('✗ Different from token');
  for (const read of [readTrace(writeTrace(drawn)), await decodeTrace(await encodeTrace(drawn))])
    expect(finish(read)).toContain('Different tokens, drawn from the same distribution');
  expect(finish(readTrace(writeTrace(drawn).replace('"sampled":true', '"sampled":"no"')))).toContain('✗ Different');
});
