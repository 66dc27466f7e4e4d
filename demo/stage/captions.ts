// The four moments of each act in plain words, the field's word for each, and what happens.
import type { Caption } from './lane-view.ts';

export const GUESS_CAPTIONS: readonly Caption[] = [
  ['guess', 'draft', 'Draft: the small model writes several tokens ahead. That is cheap, and nothing is decided yet.'],
  [
    'check in one pass',
    'verify',
    'Verify: one pass of the large model, the target, reads all guesses at once and says what it would have written.',
  ],
  ['keep', 'accept', 'Accept: guesses stay, from the left, for as long as the target would have written them too.'],
  [
    'correct',
    'after a rejection',
    'Reject: the first wrong guess and all after it are dropped. The same pass gives the target’s own token instead.',
  ],
];

export const VOTE_CAPTIONS: readonly Caption[] = [
  ['propose', 'draft', 'Draft: one of the models writes tokens ahead, and the others have not read them yet.'],
  ['vote in one pass', 'verify', 'Verify: each model reads the proposals in one pass and gives its probabilities.'],
  ['keep', 'accept', 'Accept: a proposal stays if the models together would have chosen it too.'],
  [
    'replace',
    'after a rejection',
    'Reject: the first wrong token and all after it are dropped. The models’ choice replaces it.',
  ],
];

export const HAND_OFF_CAPTIONS: readonly Caption[] = [
  ['write a step', 'draft', 'Draft: the small model writes a whole step of the solution.'],
  ['judge it', 'score', 'Score: a third model, the judge, rates how good the step is.'],
  ['keep', 'accept', 'Accept: the score passes the threshold. The step stays, and the large model writes nothing.'],
  [
    'hand off',
    'escalate',
    'Escalate: the score fails the threshold. The large model, the target, writes this step instead.',
  ],
];
