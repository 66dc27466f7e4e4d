// A pattern next to lengths: its repetitions are counted anew, so that every text that remains has such a length. Some
// texts that would fit are lost where several repetitions share the room: each gets a part of it.
import type { Count, Part } from './pattern.ts';

/** Characters of the shortest and of the longest text. */
interface Lengths {
  readonly least: number;
  readonly most: number;
}

type Sequence = readonly Part[];

/** Where a repetition is repeated without limits, each turn of the outer one gets so many characters. */
const TURN = 16;
/** The most that a repetition without limits is counted to. */
const MOST_TURNS = 1000;

const times = (count: number, length: number): number => (length === 0 ? 0 : count * length);

const lengthsOf = (part: Part): Lengths => {
  if ('ranges' in part) return { least: 1, most: 1 };
  if ('alternatives' in part) {
    const each = part.alternatives.map(sumOf);
    return { least: Math.min(...each.map(({ least }) => least)), most: Math.max(...each.map(({ most }) => most)) };
  }
  const { least, most } = lengthsOf(part.part);
  return { least: times(part.count.least, least), most: times(part.count.most ?? Number.POSITIVE_INFINITY, most) };
};

const sumOf = (parts: Sequence): Lengths => {
  const each = parts.map(lengthsOf);
  const sum = (of: (lengths: Lengths) => number): number => each.reduce((total, lengths) => total + of(lengths), 0);
  return { least: sum(({ least }) => least), most: sum(({ most }) => most) };
};

/** The alternatives whose texts can have such a length, each with those texts alone; null where there are none. */
export const fitted = (alternatives: readonly Sequence[], lengths: Lengths): readonly Sequence[] | null => {
  const kept = alternatives.map((parts) => fitSequence(parts, lengths)).filter((parts) => parts !== null);
  return kept.length > 0 ? kept : null;
};

const fitSequence = (parts: Sequence, { least, most }: Lengths): Sequence | null => {
  const own = parts.map(lengthsOf);
  const shortest = own.map((each) => each.least);
  const longest = shares(own, most);
  const missing = least - shortest.reduce((total, length) => total + length, 0);
  if (!longest || !raise(shortest, longest, missing)) return null;
  const fits = parts.map((part, i) => fit(part, { least: shortest[i] as number, most: longest[i] as number }));
  return fits.every((part) => part !== null) ? fits : null;
};

/** What each part may take of so many characters: what it can use, and those that can use more take as much as each other. */
const shares = (parts: readonly Lengths[], most: number): number[] | null => {
  if (most === Number.POSITIVE_INFINITY) return parts.map((each) => each.most);
  let room = parts.reduce((left, { least }) => left - least, most);
  if (room < 0) return null;
  const longest = parts.map(({ least }) => least);
  const byUse = parts.map(({ least, most }, i) => ({ i, use: most - least })).sort((a, b) => a.use - b.use);
  for (const [done, { i, use }] of byUse.entries()) {
    const share = Math.min(use, Math.floor(room / (byUse.length - done)));
    longest[i] = (longest[i] as number) + share;
    room -= share;
  }
  return longest;
};

/** Lengthens the shortest texts by what is missing, first of the parts that have most room for it. Whether that did. */
const raise = (shortest: number[], longest: readonly number[], missing: number): boolean => {
  const roomOf = (i: number): number => (longest[i] as number) - (shortest[i] as number);
  for (const i of [...shortest.keys()].sort((a, b) => roomOf(b) - roomOf(a))) {
    const more = Math.min(Math.max(0, missing), roomOf(i));
    shortest[i] = (shortest[i] as number) + more;
    missing -= more;
  }
  return missing <= 0;
};

const fit = (part: Part, lengths: Lengths): Part | null => {
  const own = lengthsOf(part);
  if (own.least >= lengths.least && own.most <= lengths.most) return part;
  if ('ranges' in part) return null;
  if ('alternatives' in part) {
    const alternatives = fitted(part.alternatives, lengths);
    return alternatives && { alternatives };
  }
  return fitRepetition(part, lengths);
};

const fitRepetition = ({ part, count }: { part: Part; count: Count }, { least, most }: Lengths): Part | null => {
  const own = lengthsOf(part);
  if (own.most === 0) return null; // empty texts, and longer ones are wanted
  let turns = count.most ?? Number.POSITIVE_INFINITY;
  let turn: Part | null = part;
  if (times(turns, own.most) > most) {
    const each = Math.max(own.least, Math.min(own.most, Math.max(TURN, Math.ceil(Math.sqrt(most)))));
    turns = Math.min(turns, Math.max(count.least, Math.floor(most / Math.max(1, each))), MOST_TURNS);
    if (own.most > most / turns) turn = fit(part, { least: own.least, most: Math.floor(most / Math.max(1, turns)) });
  }
  if (turns === 0) return { alternatives: [[]] };
  if (!turn) return null;
  const shortest = lengthsOf(turn).least;
  if (shortest === 0 && least > 0) return null;
  const needed = Math.max(count.least, shortest === 0 ? 0 : Math.ceil(least / shortest));
  if (needed > turns) return null;
  return { part: turn, count: { least: needed, most: turns === Number.POSITIVE_INFINITY ? null : turns } };
};
