// What a server sends comes in pieces of any size and may be damaged anywhere: the outcome is a list of events or a refusal,
// the same for every way in which the bytes are cut.
import { expect, it } from 'vitest';
import { inputs, Watch } from '../testing/fuzz/inputs.ts';
import { mutateBytes } from '../testing/fuzz/mutate-bytes.ts';
import { random } from '../testing/fuzz/random.ts';
import { EventStream } from './event-stream.ts';

const SEED = 20_261_127;
const INPUTS = inputs(6_000);

const STREAM = new TextEncoder().encode(
  [
    ': hello',
    '',
    'data: {"choices":[{"text":"6 and","finish_reason":null}]}',
    '',
    'event: x',
    'data: a',
    'data: b',
    '',
    '',
  ]
    .concat(['data: {"choices":[{"text":" ÿ 7","finish_reason":"stop"}]}', '', 'data: [DONE]', '', ''])
    .join('\r\n'),
);

it(`${INPUTS} damaged streams: the same events however the bytes are cut`, async () => {
  const below = random(SEED);
  const watch = new Watch();
  let events = 0;
  for (let i = 0; i < INPUTS; i++) {
    const bytes = mutateBytes(STREAM, STREAM.length, below);
    const cut = below(2 ** 30);
    let whole: readonly string[] = [];
    let pieces: string[] = [];
    await watch.input(() => {
      const sizes = random(cut);
      whole = new EventStream().push(bytes);
      pieces = [];
      const stream = new EventStream();
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + sizes(9);
        pieces.push(...stream.push(bytes.subarray(at, at + size)));
        at += size;
      }
    });
    expect(pieces, `input ${i}`).toEqual(whole);
    events += whole.length;
  }
  console.log(`${INPUTS} damaged streams: ${events} events, ${watch}`);
  expect(events).toBeGreaterThan(INPUTS);
  watch.check();
}, 300_000);
