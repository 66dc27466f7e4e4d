// Leaves out what never ends. An alternative that always needs itself again is no part of any answer, but an engine that
// follows it would write for ever: `root ::= "b" | loop` with `loop ::= "a" loop` has one answer, "b".
import { badConstraint } from '../base/refuse.ts';

type Sequence = readonly string[];

/** `{0,3}` of a name that never ends is the empty text; any other number of it never ends either. */
const neverNeeded = (atom: string): boolean => /\{0,\d*\}$/.test(atom);
const nameOf = (atom: string): string => atom.replace(/\{[\d,]*\}$/, '');

/** The rules with the alternatives that can end. Throws `bad-constraint` where a rule of `needed` has none. */
export const finiteRules = (
  rules: ReadonlyMap<string, readonly Sequence[]>,
  needed: readonly string[],
): ReadonlyMap<string, readonly Sequence[]> => {
  const endless = new Set(rules.keys());
  const isEndless = (atom: string): boolean => endless.has(nameOf(atom));
  const ends = (sequence: Sequence): boolean => sequence.every((atom) => !isEndless(atom) || neverNeeded(atom));
  for (let before = -1; before !== endless.size; ) {
    before = endless.size;
    for (const name of endless) if (rules.get(name)?.some(ends)) endless.delete(name);
  }
  if (needed.some((name) => endless.has(name)))
    throw badConstraint(
      'no text fulfils the constraint: whatever is written, more must follow',
      'Give the rule, schema or $ref that contains itself a case that does not.',
    );
  return new Map(
    [...rules]
      .filter(([name]) => !endless.has(name))
      .map(([name, sequences]) => [
        name,
        sequences.filter(ends).map((sequence) => sequence.filter((atom) => !isEndless(atom))),
      ]),
  );
};
