// Classes that name characters beyond ASCII, as classes of bytes. XGrammar reads the characters of a class as bytes: it
// takes `[é]` for the byte E9, and `[^é]` for all characters but that byte. Classes that name only ASCII are right.
import { type Atom, isClass, isStar, rangesOf, type Sequence, writtenRanges } from './atoms.ts';
import { intersection, members, type Range } from './literal.ts';

type Bytes = readonly number[];
type Rules = ReadonlyMap<string, readonly Sequence[]>;

const utf8 = new TextEncoder();
const ASCII: Range = [0, 0x7f];
/** Characters of two, three and four bytes. Surrogates are no characters. */
const LENGTHS: readonly Range[] = [
  [0x80, 0x7ff],
  [0x800, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, 0x10ffff],
];

const bytesOf = (character: number): Bytes => [...utf8.encode(String.fromCodePoint(character))];

/** Sequences of ranges of bytes from one character to another of the same length. Later bytes are 80 to BF. */
const byteRanges = ([low = 0, ...lows]: Bytes, [high = 0, ...highs]: Bytes): readonly (readonly Range[])[] => {
  if (lows.length === 0) return [[[low, high]]];
  const after = (byte: number, from: Bytes, to: Bytes): readonly (readonly Range[])[] =>
    byteRanges(from, to).map((rest) => [[byte, byte], ...rest]);
  if (low === high) return after(low, lows, highs);
  const [first, last] = [lows.map(() => 0x80), lows.map(() => 0xbf)];
  const [wholeLow, wholeHigh] = [lows.join() === first.join(), highs.join() === last.join()];
  const whole: Range = [wholeLow ? low : low + 1, wholeHigh ? high : high - 1];
  return [
    ...(wholeLow ? [] : after(low, lows, last)),
    ...(whole[0] <= whole[1] ? [[whole, ...lows.map((): Range => [0x80, 0xbf])]] : []),
    ...(wholeHigh ? [] : after(high, first, highs)),
  ];
};

/** The first one stands twice: XGrammar takes a class of a single one for a character. */
const byteClass = ([first, last]: Range): Atom =>
  `[${members([
    [first, first],
    [first, last],
  ])}]`;

const sequencesOf = (ranges: readonly Range[]): readonly Sequence[] => {
  const ascii = intersection(ranges, [ASCII]);
  const beyond = LENGTHS.flatMap((length) => intersection(ranges, [length])).flatMap(([first, last]) =>
    byteRanges(bytesOf(first), bytesOf(last)).map((bytes) => bytes.map(byteClass)),
  );
  return ascii.length > 0 ? [[`[${members(ascii)}]`], ...beyond] : beyond;
};

/** Whether XGrammar reads this class as another one. */
export const isMisread = (atom: Atom): boolean =>
  isClass(atom) && writtenRanges(atom).some(([, last]) => last > ASCII[1]);

/** The rules with bytes in the place of each such class. */
export const classesAsBytes = (rules: Rules): Rules => {
  const out = new Map<string, readonly Sequence[]>();
  const names = new Map<string, string>();
  const named = (key: string, sequences: (name: string) => readonly Sequence[]): string => {
    const name = names.get(key) ?? `bytes${names.size}_`;
    if (!names.has(key)) {
      names.set(key, name);
      out.set(name, sequences(name));
    }
    return name;
  };
  const written = (sequence: Sequence): readonly Sequence[] => {
    const at = sequence.findIndex(isMisread);
    const atom = sequence[at];
    if (atom === undefined) return [sequence];
    const [before, after] = [sequence.slice(0, at), sequence.slice(at + 1)];
    const characters = sequencesOf(rangesOf(atom));
    if (isStar(atom)) {
      const loop = named(`${atom} loop`, (name) => [[], ...characters.map((bytes) => [...bytes, name])]);
      return written([...before, loop, ...after]);
    }
    // What follows is named once, at the end of each alternative: a token may then go on from this character to the next
    // within a rule, which XGrammar knows beforehand. Where a rule ends it has to try.
    const rest = after.length < 2 && !after.some(isMisread) ? after : [named(after.join(' '), () => written(after))];
    return characters.map((bytes) => [...before, ...bytes, ...rest]);
  };
  for (const [name, sequences] of rules) out.set(name, sequences.flatMap(written));
  return out;
};
