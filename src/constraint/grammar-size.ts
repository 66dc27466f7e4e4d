// Bounds a grammar before XGrammar reads it. Its parser calls itself for every bracket, on a stack of 64 kB: past that it
// overwrites its own memory, and every constraint that follows fails. It also writes counts out, and counts of counts multiply.
import { badConstraint } from '../base/refuse.ts';

/** Brackets inside brackets. 160 are read, 200 are not. */
const DEEPEST = 100;

/** Characters with all counts written out: seconds of work. */
export const LONGEST_GRAMMAR = 2 ** 21;

/** XGrammar writes counts out as far as this, and makes a loop of the rest. */
const WRITTEN_OUT = 128;

/** A text, class or comment that is not closed ends with its line or the grammar: each character is read once. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\[(?:[^\]\\]|\\.)*\]?|#.*|\{\s*(\d+)[\s,]*(\d*)\s*\}|[()]|[\w.-]+/g;

export const checkSize = (grammar: string): string => {
  /** For each open bracket, the characters between the one around it and itself. */
  const before: number[] = [];
  let [length, last] = [0, 0];
  for (const [token, least, most] of grammar.matchAll(TOKEN)) {
    if (token === '(') {
      before.push(length);
      length = 0;
    } else if (token === ')') {
      last = length;
      length += before.pop() ?? 0;
    } else if (least === undefined) {
      last = token.length;
      length += last;
    } else {
      const times = Math.min(Math.max(Number(least), Number(most)), WRITTEN_OUT);
      length += last * (times - 1);
      last *= times;
    }
    if (before.length > DEEPEST)
      throw badConstraint(
        `the groups of the constraint are nested more than ${DEEPEST} deep`,
        'Write the constraint with fewer brackets inside brackets.',
      );
    if (length > LONGEST_GRAMMAR)
      throw badConstraint(
        `the grammar of the constraint would have more than ${LONGEST_GRAMMAR} characters`,
        'Make the constraint shorter, or its counts smaller: counts inside counts multiply.',
      );
  }
  return grammar;
};
