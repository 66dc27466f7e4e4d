import { expect, it } from 'vitest';
import type { TraceEvent } from '../../trace/index.ts';
import { countEscalations } from './escalations.ts';

const WORDS = ['', 'two', 'three', '\n\n', 'end'];
const piecesOf = (tokens: readonly number[]) => tokens.map((token) => WORDS[token] ?? '');

const step = (number: number, draft: readonly number[], target: readonly number[] | null): TraceEvent[] => {
  const by = target ? 'target' : 'draft';
  const ids = target ?? draft;
  const told = { at: 0, step: number, ms: 1 } as const;
  return [
    {
      ...told,
      type: 'candidates',
      round: number,
      by: 'draft',
      tokens: [[0], draft],
      pieces: [['no'], piecesOf(draft)],
      written: 9,
      passes: 9,
    },
    { ...told, type: 'route', by: 'router', to: by, score: 0.5, threshold: 0.5, reason: '', chosen: 1 },
    { ...told, type: 'step', by, tokens: ids.length, ids, pieces: piecesOf(ids) },
  ];
};

const done: TraceEvent = { at: 9, type: 'done', finish_reason: 'stop', stop: 4, text: null };

/**
 * Right against wrong; the same; wrong against wrong; kept; and the end, where the stop token is no part of the text.
 */
const RUN = [
  ...step(1, [2, 3], [1, 3]),
  ...step(2, [2, 3], [2, 3]),
  ...step(3, [1, 3], [2, 2, 3]),
  ...step(4, [1, 3], null),
  ...step(5, [2, 4], [1, 4]),
  done,
];

it('counts the steps that the target did not better', () => {
  expect(countEscalations(RUN, 'two\n\nthree\n\nthree\n\ntwo\n\ntwo')).toEqual({ escalated: 4, useless: 2 });
});

it('knows equal steps without the truth', () => {
  expect(countEscalations(RUN, null)).toEqual({ escalated: 4, useless: 1 });
});
