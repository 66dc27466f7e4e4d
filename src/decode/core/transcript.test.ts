// Rounds that commit several tokens: the tokens after the end of the answer are dropped, wherever in the block it ends.
import { describe, expect, it } from 'vitest';
import type { Tokenizer } from '../../text/tokenizer.ts';
import type { Commit } from './system.ts';
import { type Limits, Transcript } from './transcript.ts';

/** Token n is the n-th letter; enough of a tokenizer for a transcript. */
const letters: Tokenizer = {
  vocabulary: 26,
  eos: [],
  hasChatTemplate: false,
  entry: () => null,
  bytes: () => new Uint8Array(),
  encode: (text) => [...text].map((letter) => letter.charCodeAt(0) - 97),
  decode: (ids) => String.fromCharCode(...ids.map((id) => id + 97)),
  chatTemplate: () => null,
  special: () => null,
  chat: () => '',
  encodeChat: () => [],
  stream: () => ({ push: (ids) => letters.decode(ids), end: () => '' }),
};

const commit = (text: string): Commit => {
  const tokens = letters.encode(text);
  return {
    tokens,
    source: tokens.map((_, i) => (i < tokens.length - 1 ? 'drafted' : 'bonus')),
    scores: tokens.map((token) => ({ logprob: -token, top: [{ token, logprob: -token }] })),
  };
};

const transcript = (limits: Partial<Limits>) =>
  new Transcript({ maxTokens: 100, stopTokens: new Set(), stopStrings: [], ...limits }, letters);

it('looks for stop strings only after the least number of tokens', () => {
  for (const minTokens of [0, 2, 3, 4]) {
    const answer = transcript({ stopStrings: ['c'], minTokens });
    answer.take(commit('abcdcde'), false);
    expect(answer.end(), `${minTokens}`).toBe(minTokens < 3 ? 'ab' : 'abcd');
  }
});

it('an empty commit that ends the answer brings the text that was held back', () => {
  const answer = transcript({ stopStrings: ['cx'] });
  expect(answer.take(commit('abc'), false)).toMatchObject({ text: 'ab', pieces: ['a', 'b', ''] });
  const end = answer.take({ tokens: [], source: [], scores: null, last: 'complete' }, false);
  expect(end).toMatchObject({ text: 'c', tokens: [] });
  expect(end).not.toHaveProperty('pieces');
  expect([answer.end(), answer.ending]).toEqual(['abc', { finish_reason: 'stop', stop: null }]);
});

describe('a block that goes past the end', () => {
  it('ends at the budget', () => {
    const answer = transcript({ maxTokens: 5 });
    expect(answer.take(commit('abc'), false)).toMatchObject({ text: 'abc', tokens: [0, 1, 2] });
    expect(answer.ending).toBeNull();
    const kept = answer.take(commit('defg'), true);
    expect(kept).toMatchObject({ text: 'de', pieces: ['d', 'e'], tokens: [3, 4], source: ['drafted', 'drafted'] });
    expect(kept.logprobs?.map(({ text, logprob }) => [text, logprob])).toEqual([
      ['d', -3],
      ['e', -4],
    ]);
    expect(answer.ending).toEqual({ finish_reason: 'length', stop: null });
    expect(answer.end()).toBe('abcde');
  });

  it('ends at a stop token, which is committed but not shown', () => {
    const answer = transcript({ stopTokens: new Set([4]) });
    expect(answer.take(commit('cdefg'), false)).toMatchObject({
      tokens: [2, 3, 4],
      text: 'cd',
      pieces: ['c', 'd', ''],
    });
    expect(answer.ending).toEqual({ finish_reason: 'stop', stop: 4 });
  });

  it('ends at the token that completes a stop string, over two blocks', () => {
    const answer = transcript({ stopStrings: ['efg'] });
    expect(answer.take(commit('cdef'), false)).toMatchObject({
      tokens: [2, 3, 4, 5],
      text: 'cd',
      pieces: ['c', 'd', '', ''], // `ef` may be the beginning of the stop string
    });
    expect(answer.take(commit('ghi'), false)).toMatchObject({ tokens: [6], text: '', source: ['drafted'] });
    expect(answer.ending).toEqual({ finish_reason: 'stop', stop: 'efg' });
    expect(answer.end()).toBe('cd');
  });

  it('prefers what comes first: the stop token before the budget in one block', () => {
    const answer = transcript({ maxTokens: 3, stopTokens: new Set([1]) });
    answer.take(commit('abcd'), false);
    expect(answer.ending).toEqual({ finish_reason: 'stop', stop: 1 });
  });
});

it('spells tokens for people', () => {
  const draft = {
    type: 'draft',
    round: 1,
    by: 'lookup',
    tokens: [7, 8, 7],
    parents: [-1, 0, 1],
    passes: 0,
    ms: 0,
  } as const;
  expect(transcript({}).tokenText(draft)).toEqual({ pieces: ['h', 'i', 'h'] });
  const candidates = { type: 'candidates', round: 1, step: 1, by: 'draft', written: 3, passes: 2, ms: 0 } as const;
  expect(transcript({}).tokenText({ ...candidates, tokens: [[7], [8, 7]] })).toEqual({ pieces: [['h'], ['i', 'h']] });
  const step = { type: 'step', step: 1, by: 'draft', tokens: 1, ids: [8], ends: 'stop', ms: 0 } as const;
  expect(transcript({}).tokenText(step)).toEqual({ pieces: ['i'] });
  const limits = { maxTokens: 9, stopTokens: new Set<number>(), stopStrings: [] };
  expect(new Transcript(limits, null).tokenText(draft)).toBeNull();
});

describe('a system that has nothing to add', () => {
  const last = { source: ['drafted', 'drafted'], scores: null, last: true } as const;

  it('ends the answer after its last tokens, and releases text that was held back', () => {
    const answer = transcript({ stopStrings: ['jk'] });
    expect(answer.take({ tokens: [8, 9], ...last }, false)).toMatchObject({ text: 'ij', pieces: ['i', 'j'] });
    expect(answer.ending).toEqual({ finish_reason: 'length', stop: null });
  });

  it('ends it without a token', () => {
    const answer = transcript({});
    expect(answer.take({ ...last, tokens: [], source: [] }, false).tokens).toEqual([]);
    expect(answer.ending).toEqual({ finish_reason: 'length', stop: null });
  });

  it('does not hide a stop token', () => {
    const answer = transcript({ stopTokens: new Set([9]) });
    answer.take({ tokens: [8, 9], ...last }, false);
    expect(answer.ending).toEqual({ finish_reason: 'stop', stop: 9 });
  });
});
