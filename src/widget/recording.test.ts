import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { TraceEvent } from '../trace/index.ts';
import { readRecording, replay } from './recording.ts';

const saved = readFileSync(new URL('../../public/traces/problem-1.jsonl', import.meta.url), 'utf8').trim();
const lines = saved.split('\n').filter((line) => !line.includes('"outrider":"trace"'));

const played = async (text: string, speed: number, signal = new AbortController().signal): Promise<TraceEvent[]> => {
  const events: TraceEvent[] = [];
  for await (const event of replay(readRecording(text), speed, signal)) events.push(event);
  return events;
};

describe('trace files', () => {
  it('are what the command line prints', () => {
    const { prompt, events } = readRecording(lines.join('\n'));
    expect(prompt).toBeNull();
    expect(events).toEqual(lines.map((line) => JSON.parse(line)));
  });

  it('may say what was asked, and keep the plain run next to this one', () => {
    const header = JSON.stringify({
      outrider: 'trace',
      version: 1,
      title: 'A run',
      problem: { question: 'How many?' },
    });
    const { prompt, events } = readRecording([header, ...lines, '', ...lines].join('\n'));
    expect(prompt).toBe('How many?');
    expect(events).toHaveLength(lines.length);
    const titled = JSON.stringify({ outrider: 'trace', version: 1, title: 'A run' });
    expect(readRecording([titled, ...lines].join('\n')).prompt).toBe('A run');
  });

  it.each([
    ['{"at":1', /line 1: it is not JSON/],
    [`${lines[0]}\n\n7`, /line 3: it is not an object/],
    [`${lines[0]}\n{"type":"commit"}`, /line 2: its time/],
    [
      `${lines[0]}\n{"at":1,"type":"draft","round":1,"by":"draft","tokens":[1,2,3],"parents":[-1,2,1],"passes":1,"ms":1}`,
      /line 2: node 1 of a draft names 2 as its parent/,
    ],
    [lines[0] as string, /nothing is committed/],
    ['', /it has no events/],
  ])('%j is refused with the line', (text, message) => {
    expect(() => readRecording(text)).toThrow(message);
  });
});

describe('a replay', () => {
  it('keeps the recorded speed, times its speed', async () => {
    const last = JSON.parse(lines.at(-1) ?? '').at;
    const start = performance.now();
    expect(await played(lines.join('\n'), 4)).toHaveLength(lines.length);
    expect(performance.now() - start).toBeGreaterThan(last / 4 - 5);
  });

  it('without a speed limit leaves no time to draw a part of it', async () => {
    let drawn = false;
    setTimeout(() => {
      drawn = true;
    });
    vi.spyOn(performance, 'now').mockReturnValue(0); // the load of the machine changes nothing
    expect(await played(lines.join('\n'), Number.POSITIVE_INFINITY)).toHaveLength(lines.length);
    expect(drawn).toBe(false);
  });

  it('of a long run that is due at once lets the page answer', async () => {
    let answered = false;
    setTimeout(() => {
      answered = true;
    });
    const { signal } = new AbortController();
    for await (const _ of replay(readRecording(lines.join('\n')), Number.POSITIVE_INFINITY, signal)) {
      if (answered) return;
      const began = performance.now();
      while (performance.now() - began < 30); // the page draws
    }
    expect.unreachable('the page did not answer');
  });

  it('ends as an aborted run ends', async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 20);
    expect((await played(lines.join('\n'), 0.01, abort.signal)).at(-1)).toMatchObject({
      type: 'done',
      finish_reason: 'aborted',
    });
  });
});
