// The sets of prompts that come with Outrider: problems that the bundled family was not trained on (hard: its target
// fails on a third of them), and prompts whose answers quote them, for the bundled family and for any chat model.
// Settings are chosen on the split `validation`, and what was chosen is measured on `held-out`.

import type { BenchPrompt } from './prompts.ts';
import { readPrompts } from './prompts.ts';

/** Their problems have answers. */
export const MATH_SUITES = ['bundled-math', 'bundled-math-hard'] as const;
export const SUITE_NAMES = [...MATH_SUITES, 'bundled-copy', 'copy'] as const;
export type SuiteName = (typeof SUITE_NAMES)[number];

export const SPLITS = ['held-out', 'validation'] as const;
export type Split = (typeof SPLITS)[number];

/** Where a suite's problems are, below public/. */
export const suiteFile = (name: SuiteName, split: Split = 'held-out'): string =>
  `problems${name === 'bundled-math-hard' ? '-hard' : ''}${split === 'validation' ? '-validation' : ''}.json`;

const PASSAGES = [
  'Line 4 runs from the airport to the old town every twelve minutes between five in the morning and midnight. It stops at the university, at the main station, at the market and at the opera.',
  'The library lends books for four weeks. Whoever returns a book late pays ten cents for each day. Maps, newspapers and dictionaries cannot be taken home.',
  'Mix two cups of flour with one teaspoon of salt and one teaspoon of baking powder. Add three eggs and one cup of milk, and stir until the batter is smooth.',
  'The harbour opens at six in the morning. Boats that arrive earlier wait outside the breakwater until the signal changes from red to green.',
  'The museum is closed on Mondays. On all other days it is open from ten to six, and on Thursdays until nine. Children under twelve pay nothing.',
  'Water the tomatoes every second day, early in the morning. Cut the lower leaves in June, and tie the stems to a stick before they bend.',
] as const;

const copy = (): readonly BenchPrompt[] =>
  PASSAGES.map((passage) => ({
    prompt: { messages: [{ role: 'user', content: `Repeat the following text word for word.\n\n${passage}` }] },
    result: null,
  }));

interface Problem {
  readonly question: string;
  readonly answer: string;
}

/** A problem that was asked and answered before in the same conversation. */
const askedTwice = ({ question, answer }: Problem): BenchPrompt => ({
  prompt: {
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
      { role: 'user', content: question },
    ],
  },
  result: null,
});

/** `problems`: the text of the suite's file. */
export const readSuite = (name: SuiteName, problems: string): readonly BenchPrompt[] => {
  if (name === 'copy') return copy();
  if (name === 'bundled-math' || name === 'bundled-math-hard') return readPrompts(problems, name);
  return (JSON.parse(problems) as Problem[]).map(askedTwice);
};
