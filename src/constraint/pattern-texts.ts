// The texts of a pattern as an automaton: whether all texts of one pattern match another, and how long they are. So a
// string may have a format and a pattern, or lengths next to them: one is written, where it keeps the others.
import type { Range } from './literal.ts';
import { type Part, type Refuse, readPattern } from './pattern.ts';

interface Step {
  readonly ranges: readonly Range[];
  readonly to: number;
}

/** By state, where characters lead, and where none is needed. State 0 is the start. */
interface Automaton {
  readonly steps: Step[][];
  readonly jumps: number[][];
  readonly end: number;
  /** Throws when all steps are used up. */
  readonly spend: (steps: number) => void;
}

const MOST_STATES = 5000;

/** Steps that all patterns of a schema share: a hostile one would take for ever. */
export interface Following {
  readonly refuse: Refuse;
  readonly steps: { left: number };
}

/** Of these alternatives. */
const automatonOf = (all: readonly (readonly Part[])[], { refuse, steps: budget }: Following): Automaton => {
  const steps: Step[][] = [[]];
  const jumps: number[][] = [[]];
  const add = (): number => {
    if (steps.length > MOST_STATES) throw refuse('the counts of the pattern make it too long');
    jumps.push([]);
    return steps.push([]) - 1;
  };
  /** A new state after these. */
  const after = (...states: readonly number[]): number => {
    const to = add();
    for (const state of states) jumps[state]?.push(to);
    return to;
  };
  /** Adds the states of a part after the state `from`; the last of them. */
  const extend = (from: number, part: Part): number => {
    if ('alternatives' in part) return either(from, part.alternatives);
    if ('ranges' in part) {
      const to = add();
      steps[from]?.push({ ranges: part.ranges, to });
      return to;
    }
    const { least, most } = part.count;
    let at = from;
    for (let i = 0; i < least; i++) at = extend(at, part.part);
    const ends = [after(at)];
    if (most === null) {
      const [loop] = ends as [number];
      jumps[extend(loop, part.part)]?.push(loop);
    } else for (let i = least; i < most; i++) ends.push(extend(ends.at(-1) as number, part.part));
    return after(...ends);
  };
  const either = (from: number, alternatives: readonly (readonly Part[])[]): number =>
    after(...alternatives.map((parts) => parts.reduce(extend, from)));
  const spend = (more: number): void => {
    budget.left -= more;
    if (budget.left < 0) throw refuse('the pattern takes too many steps to follow');
  };
  return { steps, jumps, end: either(0, all), spend };
};

const read = (
  pattern: string,
  following: Following,
): { readonly whole: Automaton; readonly not: readonly Automaton[] } => {
  const { alternatives, not } = readPattern(pattern, following.refuse);
  const excluded = not.map((each) => automatonOf(each.alternatives, following));
  return { whole: automatonOf(alternatives, following), not: excluded };
};

/** These states, and all that can be reached without a character, in their order. */
const closure = ({ jumps, spend }: Automaton, from: Iterable<number>): readonly number[] => {
  const all = new Set(from);
  for (const state of all) for (const to of jumps[state] ?? []) all.add(to);
  spend(all.size);
  return [...all].sort((a, b) => a - b);
};

const holds = (ranges: readonly Range[], point: number): boolean =>
  ranges.some(([first, last]) => first <= point && point <= last);

/** Where a character leads; any character, where none is given. */
const after = (own: Automaton, states: readonly number[], point?: number): readonly number[] => {
  const reached: number[] = [];
  for (const state of states)
    for (const { ranges, to } of own.steps[state] ?? []) {
      own.spend(ranges.length);
      if (point === undefined || holds(ranges, point)) reached.push(to);
    }
  return closure(own, reached);
};

/** A character for each set of characters that both treat alike. */
const pointsOf = (...all: readonly Automaton[]): readonly number[] => {
  const ranges = all.flatMap(({ steps }) => steps.flat()).flatMap((step) => step.ranges);
  return [...new Set(ranges.flatMap(([first, last]) => [first, last + 1]))];
};

/**
 * Follows all texts of `inner` through `outer`, and is false where one is at fault: told whether the text may end here,
 * and whether `outer` may.
 */
const every = (inner: Automaton, outer: Automaton, isFault: (ends: boolean, there: boolean) => boolean): boolean => {
  const points = pointsOf(inner, outer);
  const seen = new Set<string>();
  const open: [number, readonly number[]][] = [];
  const add = (state: number, others: readonly number[]): void => {
    const key = `${state} ${others.join()}`;
    if (seen.has(key)) return;
    seen.add(key);
    open.push([state, others]);
  };
  add(0, closure(outer, [0]));
  for (let next = open.pop(); next; next = open.pop()) {
    const [state, others] = next;
    if (isFault(state === inner.end, others.includes(outer.end))) return false;
    for (const to of inner.jumps[state] ?? []) add(to, others);
    for (const { ranges, to } of inner.steps[state] ?? []) {
      inner.spend(points.length);
      for (const point of points) if (holds(ranges, point)) add(to, after(outer, others, point));
    }
  }
  return true;
};

/** Whether every text that `texts` matches is one that `pattern` matches, both from the first character to the last. */
export const isWithin = (texts: string, pattern: string, following: Following): boolean => {
  const [inner, { whole, not }] = [read(texts, following).whole, read(pattern, following)];
  return (
    every(inner, whole, (ends, there) => ends && !there) && not.every((each) => every(inner, each, (_, there) => there))
  );
};

/** Characters of the shortest and of the longest text that the pattern matches. */
export const lengthsOf = (pattern: string, following: Following): readonly [least: number, most: number] => {
  const { whole } = read(pattern, following);
  const lengths: number[] = [];
  let states = closure(whole, [0]);
  for (let length = 0; states.length > 0; length++) {
    // A longer way has a loop in it.
    if (length > whole.steps.length) return [lengths[0] ?? 0, Number.POSITIVE_INFINITY];
    if (states.includes(whole.end)) lengths.push(length);
    states = after(whole, states);
  }
  return [lengths[0] ?? 0, lengths.at(-1) ?? 0];
};
