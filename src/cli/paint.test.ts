import { describe, expect, it } from 'vitest';
import { Pieces } from '../text/pieces.ts';
import { textStream } from '../text/text-stream.ts';
import { painter } from './paint.ts';

/** Token i is the i-th letter; 26 and 27 are the two bytes of é. */
const vocab = Object.fromEntries([...'abcdefghijklmnopqrstuvwxyzÃ©'].map((name, i) => [name, i]));
const pieces = new Pieces({ decoder: { type: 'ByteLevel' } }, Object.entries(vocab));
const make = (options: { colour: boolean; marks: boolean }) => painter(textStream(pieces), options);

describe('painting', () => {
  it('marks every stretch of one source once', () => {
    const paint = make({ colour: false, marks: true });
    const source = ['drafted', 'drafted', 'corrected'] as const;
    expect(paint({ tokens: [0, 1, 2], source, text: 'abc' })).toBe('+ab~c');
    expect(paint({ tokens: [3], source: ['sampled'], text: 'd' })).toBe('d');
    expect(paint({ tokens: [4, 5], source: ['drafted', 'bonus'], text: 'ef' })).toBe('+e*f');
    expect(paint({ tokens: [6], source: ['routed'], text: 'g' })).toBe('!g');
  });

  it('never uses colour alone', () => {
    const paint = make({ colour: true, marks: false });
    expect(paint({ tokens: [0], source: ['corrected'], text: 'a' })).toBe('\x1b[4;34ma\x1b[0m');
  });

  it('keeps the source of text that was held back', () => {
    const paint = make({ colour: false, marks: true });
    expect(paint({ tokens: [0, 1], source: ['drafted', 'bonus'], text: '' })).toBe('');
    expect(paint({ tokens: [2], source: ['corrected'], text: 'abc' })).toBe('+a*b~c');
  });

  it('gives a character to the token that completed it', () => {
    const paint = make({ colour: false, marks: true });
    expect(paint({ tokens: [26], source: ['drafted'], text: '' })).toBe('');
    expect(paint({ tokens: [27], source: ['bonus'], text: 'é' })).toBe('*é');
  });

  it('prints text that no token accounts for as it is', () => {
    const paint = make({ colour: false, marks: true });
    expect(paint({ tokens: [26], source: ['drafted'], text: '\ufffd' })).toBe('\ufffd');
  });

  it('does not repeat what a stop string cut off', () => {
    const paint = make({ colour: false, marks: true });
    expect(paint({ tokens: [0, 1, 2], source: ['drafted', 'drafted', 'drafted'], text: 'a' })).toBe('+a');
  });
});
