// The texts of a pattern as an automaton: whether all texts of one pattern match another, and how long they are. So a
// string may have a format and a pattern, or lengths next to them: one is written, where it keeps the others.
import type { Range } from './literal.ts';
import { type Count, PatternReader, type Refuse } from './pattern.ts';

interface Step {
  readonly ranges: readonly Range[];
  readonly to: number;
}

/** By state, where characters lead, and where none is needed. State 0 is the start. */
interface Automaton {
  readonly steps: Step[][];
  readonly jumps: number[][];
  readonly end: number;
}

type States = Pick<Automaton, 'steps' | 'jumps'>;

/** Adds the states of a part after the state `from`; its last one. */
type Part = (states: States, from: number) => number;

const MOST_STATES = 5000;
/** Pairs of states that are looked at. A search that takes more has found nothing out. */
const MOST_PAIRS = 50_000;
const MOST_DEPTH = 64;
const LOOK_AROUND = 'look-around in a pattern is not supported';

/** A new state, which follows another one. */
type Next = (states: States, from: number) => number;

const stateIn = ({ steps, jumps }: States, refuse: Refuse): number => {
  if (steps.length > MOST_STATES) throw refuse('the counts of the pattern make it too long', 'Count less.');
  jumps.push([]);
  return steps.push([]) - 1;
};

const one =
  (ranges: readonly Range[], refuse: Refuse): Part =>
  (states, from) => {
    const to = stateIn(states, refuse);
    states.steps[from]?.push({ ranges, to });
    return to;
  };

const inOrder =
  (parts: readonly Part[]): Part =>
  (states, from) =>
    parts.reduce((at, part) => part(states, at), from);

const either =
  (parts: readonly Part[], next: Next): Part =>
  (states, from) => {
    const ends = parts.map((part) => part(states, from));
    const [first, ...others] = ends as [number, ...number[]];
    const to = next(states, first);
    for (const end of others) states.jumps[end]?.push(to);
    return to;
  };

const repeated =
  (part: Part, { least, most }: Count, next: Next): Part =>
  (states, from) => {
    let at = from;
    for (let i = 0; i < least; i++) at = part(states, at);
    if (most === null) {
      const loop = next(states, at);
      states.jumps[part(states, loop)]?.push(loop);
      return loop;
    }
    const ends = [at];
    for (let i = least; i < most; i++) ends.push(part(states, ends.at(-1) as number));
    const last = ends.pop() as number;
    const to = next(states, last);
    for (const end of ends) states.jumps[end]?.push(to);
    return to;
  };

const COUNTS: Readonly<Record<string, Count>> = {
  '*': { least: 0, most: null },
  '+': { least: 1, most: null },
  '?': { least: 0, most: 1 },
};

/** A group, or the whole pattern. `not`: what a look-ahead at the very start excludes. */
const partOf = (reader: PatternReader, refuse: Refuse, not: Part[], depth = 0): Part => {
  if (depth > MOST_DEPTH) throw refuse('the groups of the pattern are nested too deep');
  const next: Next = (states, from) => {
    const to = stateIn(states, refuse);
    states.jumps[from]?.push(to);
    return to;
  };
  const alternatives: Part[] = [];
  let sequence: Part[] = [];
  let closed = depth === 0;
  while (reader.more) {
    const character = reader.take();
    const atStart = depth === 0 && sequence.length === 0;
    if (character === ')') {
      if (depth === 0) throw refuse('the pattern closes a group that is not open');
      closed = true;
      break;
    }
    if (character === '|') {
      alternatives.push(inOrder(sequence));
      sequence = [];
    } else if (character === '(') {
      const isMarked = reader.skip('?');
      if (isMarked && reader.skip('!')) {
        if (!atStart || alternatives.length > 0) throw refuse(LOOK_AROUND);
        not.push(partOf(reader, refuse, [], depth + 1));
        continue;
      }
      if (isMarked) reader.readGroup();
      sequence.push(partOf(reader, refuse, [], depth + 1));
    } else if (/[*+?{]/.test(character)) {
      const last = sequence.pop();
      if (!last) throw refuse(`nothing stands before ${character} in the pattern`);
      const count = character === '{' ? reader.readCount() : (COUNTS[character] as Count);
      reader.skip('?'); // lazy or not, the same texts match
      sequence.push(repeated(last, count, next));
    } else if (character === '^') {
      if (!atStart) throw refuse('^ inside a pattern is not supported');
    } else if (character === '$') {
      if (depth > 0 || (reader.more && !reader.at('|'))) throw refuse('$ inside a pattern is not supported');
    } else sequence.push(one(reader.readSet(character).ranges, refuse));
  }
  if (!closed) throw refuse('a group of the pattern is not closed');
  return either([...alternatives, inOrder(sequence)], next);
};

const automaton = (part: Part): Automaton => {
  const states: States = { steps: [[]], jumps: [[]] };
  return { ...states, end: part(states, 0) };
};

const read = (pattern: string, refuse: Refuse): { readonly whole: Automaton; readonly not: readonly Automaton[] } => {
  const not: Part[] = [];
  const whole = automaton(partOf(new PatternReader(pattern, refuse), refuse, not));
  return { whole, not: not.map(automaton) };
};

/** These states, and all that can be reached without a character, in their order. */
const closure = ({ jumps }: Automaton, from: Iterable<number>): readonly number[] => {
  const all = new Set(from);
  for (const state of all) for (const to of jumps[state] ?? []) all.add(to);
  return [...all].sort((a, b) => a - b);
};

const holds = (ranges: readonly Range[], point: number): boolean =>
  ranges.some(([first, last]) => first <= point && point <= last);

/** Where a character leads; any character, where none is given. */
const after = (own: Automaton, states: readonly number[], point?: number): readonly number[] =>
  closure(
    own,
    states
      .flatMap((state) => own.steps[state] ?? [])
      .flatMap(({ ranges, to }) => (point === undefined || holds(ranges, point) ? [to] : [])),
  );

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
    if (seen.size > MOST_PAIRS || isFault(state === inner.end, others.includes(outer.end))) return false;
    for (const to of inner.jumps[state] ?? []) add(to, others);
    for (const { ranges, to } of inner.steps[state] ?? [])
      for (const point of points) if (holds(ranges, point)) add(to, after(outer, others, point));
  }
  return true;
};

/** Whether every text that `texts` matches is one that `pattern` matches, both from the first character to the last. */
export const isWithin = (texts: string, pattern: string, refuse: Refuse): boolean => {
  const [inner, { whole, not }] = [read(texts, refuse).whole, read(pattern, refuse)];
  return (
    every(inner, whole, (ends, there) => ends && !there) && not.every((each) => every(inner, each, (_, there) => there))
  );
};

/** Characters of the shortest and of the longest text that the pattern matches. */
export const lengthsOf = (pattern: string, refuse: Refuse): readonly [least: number, most: number] => {
  const { whole } = read(pattern, refuse);
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
