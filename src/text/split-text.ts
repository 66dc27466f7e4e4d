// The pre-tokeniser `Split` of tokenizer.json. The tokenizer library has two of its five behaviours, and loses text
// where it is inverted.
import { bad } from '../base/refuse.ts';

interface Stretch {
  readonly text: string;
  readonly isMatch: boolean;
}

/** The matches of a pattern, empty ones too, and what is between them; inverted, they change places. */
const stretches = (text: string, pattern: RegExp, inverted: boolean): readonly Stretch[] => {
  const all: Stretch[] = [];
  let at = 0;
  const add = (end: number, isMatch: boolean): void => {
    if (at < end || isMatch) all.push({ text: text.slice(at, end), isMatch: isMatch !== inverted });
    at = end;
  };
  for (const { 0: match, index } of text.matchAll(pattern)) {
    add(index, false);
    add(index + match.length, true);
  }
  add(text.length, false);
  return all;
};

/** A stretch for which `joins` holds is joined to the one before it. */
const joined = (all: readonly Stretch[], joins: (own: Stretch, before: Stretch) => boolean): readonly string[] => {
  const pieces: string[] = [];
  all.forEach((own, i) => {
    const last = all[i - 1];
    if (last && joins(own, last)) pieces.push((pieces.pop() as string) + own.text);
    else pieces.push(own.text);
  });
  return pieces;
};

type Behaviour = (all: readonly Stretch[]) => readonly string[];

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  contiguous: (all) => joined(all, (own, before) => own.isMatch === before.isMatch),
  isolated: (all) => all.map(({ text }) => text),
  mergedwithnext: (all) => joined(all, (own, before) => before.isMatch && !own.isMatch),
  mergedwithprevious: (all) => joined(all, (own, before) => own.isMatch && !before.isMatch),
  removed: (all) => all.flatMap(({ text, isMatch }) => (isMatch ? [] : [text])),
};

/** What the configuration of a `Split` makes of a text. */
export const splitBy = (
  pattern: RegExp,
  { behavior = 'Isolated', invert = false }: { readonly behavior?: unknown; readonly invert?: unknown },
): ((text: string) => string[]) => {
  const name = String(behavior).toLowerCase();
  if (!Object.hasOwn(BEHAVIOURS, name))
    throw bad(
      `tokenizer.json: the behavior ${JSON.stringify(behavior)} of Split is not supported`,
      `Supported are Isolated, Removed, Contiguous, MergedWithPrevious and MergedWithNext.`,
    );
  const join = BEHAVIOURS[name] as Behaviour;
  return (text) => join(stretches(text, pattern, invert === true)).filter(Boolean);
};
