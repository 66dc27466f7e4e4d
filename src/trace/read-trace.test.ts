import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTraceText } from './read-trace.ts';

const folder = resolve(import.meta.dirname, '../../public/traces');
const lines = (...events: readonly object[]): string => events.map((event) => JSON.stringify(event)).join('\n');
const run = { at: 0, type: 'run', version: 1, system: 'dflash', knobs: {}, seed: 0, prompt: [1, 2] };
const draft = { at: 1, type: 'draft', round: 1, by: 'draft', tokens: [5, 6, 7], parents: [-1, 0, 1], passes: 1, ms: 1 };
const verify = { at: 2, type: 'verify', round: 1, by: 'target', path: [0, 1], next: 9, source: 'corrected', ms: 1 };
const commit = {
  at: 3,
  type: 'commit',
  round: 1,
  tokens: [6, 9],
  source: ['drafted', 'corrected'],
  text: null,
  logprobs: null,
  ms: 2,
};
const done = { at: 4, type: 'done', finish_reason: 'stop', stop: null, text: null };

describe('a trace as text', () => {
  it('is read with its header and its plain run', () => {
    const text = lines(
      { outrider: 'trace', version: 1, title: 'x' },
      run,
      draft,
      verify,
      commit,
      done,
      run,
      commit,
      done,
    );
    expect(readTraceText(text)).toMatchObject({
      header: { title: 'x' },
      events: [run, draft, verify, commit, done],
      plain: [run, commit, done],
    });
  });

  it('is read as it is recorded and published', () => {
    for (const name of readdirSync(folder).filter((file) => file.endsWith('.jsonl')))
      expect(readTraceText(readFileSync(join(folder, name), 'utf8')), name).toHaveProperty('events');
  });

  it.each<[string, object, string]>([
    ['parents that form a circle', { ...draft, parents: [-1, 2, 1] }, 'node 1 of a draft names 2 as its parent'],
    ['a second root', { ...draft, parents: [-1, -1, 0] }, 'node 1 of a draft names -1 as its parent'],
    [
      'parents for other nodes',
      { ...draft, parents: [-1, 0] },
      'the parents of a draft event must have an entry for each token',
    ],
    ['a path out of its tree', { ...verify, path: [0, 7] }, 'the path of a verify event leaves its draft'],
    ['a path that goes back', { ...verify, path: [0, 2, 1] }, 'the path of a verify event must ascend from node 0'],
    ['tokens that are no numbers', { ...commit, tokens: ['6', 9] }, 'the tokens of a commit event must be a list'],
    ['votes of another kind', { ...commit, votes: [{ r: 'x', own: [] }, null] }, 'the votes of a commit event must be'],
    ['pieces that are no text', { ...commit, pieces: [1, 2] }, 'the pieces of a commit event must be a list'],
    [
      'a probability that is none',
      { ...verify, probabilities: [{ target: 'high' }] },
      'the probabilities of a verify event',
    ],
    ['a stop that is neither token nor text', { ...done, stop: [2] }, 'the stop of a done event must be a token, text'],
    ['a role that every object has', { ...draft, by: 'toString' }, 'the by of a draft event must be a role'],
    [
      'a tree that no system drafts',
      { ...draft, tokens: Array(1025).fill(5), parents: Array.from({ length: 1025 }, (_, i) => i - 1) },
      'a draft has more than 1024 nodes',
    ],
    ['a version of the future', { ...run, version: 2 }, 'the version of a run event must be 1'],
    ['no time', { ...commit, at: null }, 'its time (at) is not a number'],
  ])('is refused with %s, by line and reason', (_, event, problem) => {
    const read = readTraceText(lines(run, draft, event, done));
    expect(read).toMatchObject({ line: 3, problem: expect.stringContaining(problem) });
  });

  it('is refused without a run, with too many, and where it is not JSON', () => {
    expect(readTraceText('')).toMatchObject({ problem: 'it has no events' });
    expect(readTraceText(lines(commit, done))).toMatchObject({ problem: 'no run begins in it' });
    expect(readTraceText(`${lines(run, commit, done, run, done, run)}`)).toMatchObject({ line: 6 });
    expect(readTraceText(`${lines(run)}\n{"at": 1`)).toMatchObject({ line: 2, problem: 'it is not JSON: {"at": 1' });
  });

  it.each([
    ['a number', '2', 'version 2'],
    ['a text', '"one"', 'version "one"'],
    ['nothing', 'null', 'this version'],
    ['lists without end', `${'['.repeat(2e5)}${']'.repeat(2e5)}`, 'this version'],
  ])('is refused in a version that is not known: %s', (_, version, named) => {
    const problem = `${named} of trace files is not known here`;
    expect(readTraceText(`{"outrider":"trace","version":${version}}\n${lines(run)}`)).toEqual({ line: 1, problem });
  });

  it('lets events pass that a newer version may have', () => {
    expect(readTraceText(lines(run, { at: 1, type: 'weather', sky: 'blue' }, done))).toHaveProperty('events');
  });
});
