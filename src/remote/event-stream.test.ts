import { expect, it } from 'vitest';
import { EventStream } from './event-stream.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const TEXT =
  ': a comment\n\ndata: {"a":1}\r\n\r\nevent: x\nid: 7\ndata: zwei\ndata:Zeilen – ü\n\n\rdata\r\rdata: [DONE]\n\ndata: cut';
const EVENTS = ['{"a":1}', 'zwei\nZeilen – ü', '', '[DONE]'];

it('reads the data of events, whatever pieces their bytes come in', () => {
  const all = bytes(TEXT);
  for (let size = 1; size <= all.length; size++) {
    const stream = new EventStream();
    const seen: string[] = [];
    for (let at = 0; at < all.length; at += size) seen.push(...stream.push(all.subarray(at, at + size)));
    expect(seen, `in pieces of ${size}`).toEqual(EVENTS);
  }
});

it('does not count an event that the stream breaks off in', () => {
  expect(new EventStream().push(bytes('data: half'))).toEqual([]);
  expect(new EventStream().push(bytes('data: half\n'))).toEqual([]);
});
