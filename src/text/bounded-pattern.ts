// Searches a text for a pattern of tokenizer.json, and counts its steps. A regular expression of the browser cannot be
// ended: `(a+)+$` keeps a page busy for ever. This one backtracks in the same order and finds the same, and stops when
// its steps are used up. The tokenizer library calls `exec`, as every string method does.
import { bad } from '../base/refuse.ts';

/** Steps that all patterns of a tokenizer share for one text: half a second, and far more than published ones take. */
export class Steps {
  left = 0;

  refill(characters: number): void {
    this.left = 16_000_000 + 256 * characters;
  }
}

/** A set of characters as the browser reads it, `[^\s\p{L}]`: each character is asked for once. */
class Characters {
  readonly pages: (Uint8Array | undefined)[] = [];
  readonly #native: RegExp;

  constructor(atom: string, flags: string) {
    this.#native = new RegExp(`^(?:${atom})$`, flags);
  }

  has(point: number): boolean {
    const page = this.pages[point >> 8] ?? new Uint8Array(256);
    this.pages[point >> 8] = page;
    const known = page[point & 255] as number;
    if (known !== 0) return known === 2;
    const found = this.#native.test(String.fromCodePoint(point));
    page[point & 255] = found ? 2 : 1;
    return found;
  }
}

type Node =
  | { readonly kind: 'characters'; readonly set: Characters }
  | { readonly kind: 'sequence' | 'alternatives'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly min: number; readonly max: number; readonly lazy: boolean }
  | { readonly kind: 'look'; readonly node: Node; readonly behind: boolean; readonly negated: boolean }
  | { readonly kind: 'start' | 'end' | 'word' | 'no-word' };

/** An atom of one character: an escape, a class, or the character itself. */
const ATOM = /\\u\{[^}]*\}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\x..|\\c.|\\[pP]\{[^}]*\}|\\.|[\s\S]/uy;
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]/uy;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,)?(\d*)\})(\??)/uy;
const GROUP = /\((?:\?(:|=|!|<=|<!|<[^>=!]+>))?/uy;

/** The browser has compiled the source, so it is well formed. */
class Parser {
  readonly #source: string;
  readonly #flags: string;
  readonly #sets = new Map<string, Characters>();
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  #next(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at += found[0].length;
    return found;
  }

  alternatives(): Node {
    const parts = [this.#sequence()];
    while (this.#source[this.#at] === '|') {
      this.#at++;
      parts.push(this.#sequence());
    }
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'alternatives', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] as string)) {
      const node = this.#item();
      const quantifier = this.#next(QUANTIFIER);
      parts.push(quantifier ? repeated(node, quantifier) : node);
    }
    return { kind: 'sequence', parts };
  }

  #item(): Node {
    const first = this.#source[this.#at];
    if (first === '(') return this.#group();
    if (first === '[') return this.#characters((this.#next(CLASS) as RegExpExecArray)[0]);
    if (first === '^' || first === '$') {
      this.#at++;
      return { kind: first === '^' ? 'start' : 'end' };
    }
    const [atom] = this.#next(ATOM) as RegExpExecArray;
    if (atom === '\\b' || atom === '\\B') return { kind: atom === '\\b' ? 'word' : 'no-word' };
    if (/^\\[1-9k]/.test(atom)) throw bad(`tokenizer.json: the pattern ${shown(this.#source)} refers back to a group`);
    return this.#characters(atom);
  }

  #group(): Node {
    const [whole, kind] = this.#next(GROUP) as RegExpExecArray;
    if (kind === undefined && this.#source.startsWith('(?', this.#at - whole.length))
      throw bad(`tokenizer.json: the pattern ${shown(this.#source)} has a group of an unknown kind`);
    const node = this.alternatives();
    this.#at++;
    if (kind === undefined || kind === ':' || /^<[^=!]/.test(kind)) return node;
    return { kind: 'look', node, behind: kind.startsWith('<'), negated: kind.endsWith('!') };
  }

  #characters(atom: string): Node {
    let set = this.#sets.get(atom);
    if (!set) {
      set = new Characters(atom, this.#flags);
      this.#sets.set(atom, set);
    }
    return { kind: 'characters', set };
  }
}

const shown = (pattern: string): string => JSON.stringify(pattern.slice(0, 80));

const repeated = (node: Node, [whole, low, comma, high, lazy]: RegExpExecArray): Node => {
  const [min, max] =
    low === undefined
      ? [whole[0] === '+' ? 1 : 0, whole[0] === '?' ? 1 : Number.POSITIVE_INFINITY]
      : [Number(low), comma ? (high ? Number(high) : Number.POSITIVE_INFINITY) : Number(low)];
  return { kind: 'repeat', node, min, max, lazy: lazy === '?' };
};

type Instruction =
  | { readonly op: 'one'; readonly set: Characters; readonly back: boolean }
  /** As many as there are, then one less each time that what follows fails. */
  | { readonly op: 'run'; readonly set: Characters; readonly back: boolean; readonly min: number; readonly max: number }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'look'; readonly negated: boolean; next: number }
  /** A repetition that read nothing is not repeated again. */
  | { readonly op: 'mark' | 'progress'; readonly register: number }
  | { readonly op: 'start' | 'end' | 'word' | 'no-word' | 'found' };

/** Instructions that `{n,m}` may unroll a pattern to. */
const LONGEST = 20_000;

class Program {
  readonly code: Instruction[] = [];
  #registers = 0;
  readonly #source: string;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#write(new Parser(source, flags).alternatives(), false);
    this.#add({ op: 'found' });
  }

  #add<T extends Instruction>(instruction: T): T {
    if (this.code.length >= LONGEST) throw bad(`tokenizer.json: the pattern ${shown(this.#source)} is too long`);
    this.code.push(instruction);
    return instruction;
  }

  #write(node: Node, back: boolean): void {
    switch (node.kind) {
      case 'characters':
        this.#add({ op: 'one', set: node.set, back });
        break;
      case 'sequence':
        for (const part of back ? [...node.parts].reverse() : node.parts) this.#write(part, back);
        break;
      case 'alternatives':
        this.#alternatives(node.parts, back);
        break;
      case 'repeat':
        this.#repeat(node, back);
        break;
      case 'look': {
        const look = this.#add({ op: 'look', negated: node.negated, next: 0 });
        this.#write(node.node, node.behind);
        this.#add({ op: 'found' });
        look.next = this.code.length;
        break;
      }
      default:
        this.#add({ op: node.kind });
    }
  }

  #alternatives(parts: readonly Node[], back: boolean): void {
    const ends = parts.slice(0, -1).map((part) => {
      const split = this.#add({ op: 'split', first: this.code.length + 1, second: 0 });
      this.#write(part, back);
      const end = this.#add({ op: 'jump', to: 0 });
      split.second = this.code.length;
      return end;
    });
    this.#write(parts.at(-1) as Node, back);
    for (const end of ends) end.to = this.code.length;
  }

  #repeat({ node, min, max, lazy }: Node & { kind: 'repeat' }, back: boolean): void {
    if (node.kind === 'characters' && !lazy) {
      this.#add({ op: 'run', set: node.set, back, min, max });
      return;
    }
    // An empty group may be counted a thousand million times: nothing more is written than once.
    for (let i = 0, before = -1; i < min && before !== this.code.length; i++) {
      before = this.code.length;
      this.#write(node, back);
    }
    /** Once more or not: what is not tried first is tried when the rest fails. */
    const once = (): { first: number; second: number } => {
      const split = this.#add({ op: 'split', first: 0, second: 0 });
      split[lazy ? 'second' : 'first'] = this.code.length;
      const register = this.#registers++;
      this.#add({ op: 'mark', register });
      this.#write(node, back);
      this.#add({ op: 'progress', register });
      return split;
    };
    const out = lazy ? 'first' : 'second';
    if (max === Number.POSITIVE_INFINITY) {
      const start = this.code.length;
      const split = once();
      this.#add({ op: 'jump', to: start });
      split[out] = this.code.length;
      return;
    }
    const splits = Array.from({ length: max - min }, once);
    for (const split of splits) split[out] = this.code.length;
  }
}

/** The index after the character at `at`; before it when reading backwards. -1: there is none. */
const step = (text: string, at: number, back: boolean): number => {
  if (!back) return at >= text.length ? -1 : at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1);
  if (at === 0) return -1;
  return at > 1 && (text.codePointAt(at - 2) as number) > 0xffff ? at - 2 : at - 1;
};

const isWord = (text: string, at: number): boolean => /\w/.test(text[at] ?? '');

export class BoundedPattern extends RegExp {
  readonly #program: Program;
  readonly #steps: Steps;

  /** String methods copy a pattern by its constructor: the copy takes its steps from the same count. */
  constructor(pattern: RegExp, steps: Steps | string | undefined) {
    super(pattern, typeof steps === 'string' ? steps : pattern.flags);
    if (pattern instanceof BoundedPattern) {
      this.#program = pattern.#program;
      this.#steps = pattern.#steps;
    } else {
      const { ignoreCase, dotAll } = pattern;
      this.#program = new Program(pattern.source, `u${ignoreCase ? 'i' : ''}${dotAll ? 's' : ''}`);
      this.#steps = steps as Steps;
    }
  }

  override exec(text: string): RegExpExecArray | null {
    const moves = this.global || this.sticky;
    for (let at = moves ? this.lastIndex : 0; at >= 0 && at <= text.length; at = step(text, at, false)) {
      const end = this.#match(text, 0, at);
      if (end >= 0) {
        if (moves) this.lastIndex = end;
        return Object.assign([text.slice(at, end)], { index: at, input: text }) as RegExpExecArray;
      }
      if (this.sticky) break;
    }
    if (moves) this.lastIndex = 0;
    return null;
  }

  /** Where the match from `at` ends; -1 when there is none. */
  #match(text: string, start: number, from: number): number {
    const { code } = this.#program;
    const registers: number[] = [];
    // What to try when this way fails: instruction, index, and for a run how far it may be given back. An instruction
    // below zero stands for a register, and the index for what it held.
    const ways: number[] = [];
    let pc = start;
    let at = from;
    for (;;) {
      if (--this.#steps.left < 0)
        throw bad(
          `tokenizer.json: the pattern ${shown(this.source)} takes too many steps for this text`,
          'The file is broken, or made to keep a page busy.',
        );
      const instruction = code[pc] as Instruction;
      let failed = false;
      switch (instruction.op) {
        case 'one': {
          const next = step(text, at, instruction.back);
          if (next >= 0 && instruction.set.has(text.codePointAt(Math.min(at, next)) as number)) at = next;
          else failed = true;
          pc++;
          break;
        }
        case 'run': {
          const { set, back, min, max } = instruction;
          let count = 0;
          let least = min === 0 ? at : -1;
          while (count < max) {
            const next = step(text, at, back);
            if (next < 0 || !set.has(text.codePointAt(Math.min(at, next)) as number)) break;
            at = next;
            if (++count === min) least = at;
          }
          this.#steps.left -= count;
          pc++;
          if (count < min) failed = true;
          else if (at !== least) ways.push(pc, at, least);
          break;
        }
        case 'split':
          ways.push(instruction.second, at, -1);
          pc = instruction.first;
          break;
        case 'jump':
          pc = instruction.to;
          break;
        case 'look':
          failed = this.#match(text, pc + 1, at) >= 0 === instruction.negated;
          pc = instruction.next;
          break;
        case 'mark':
          ways.push(-1 - instruction.register, registers[instruction.register] ?? -1, -1);
          registers[instruction.register] = at;
          pc++;
          break;
        case 'progress':
          failed = registers[instruction.register] === at;
          pc++;
          break;
        case 'start':
          failed = at > 0 && !(this.multiline && /[\n\r\u2028\u2029]/.test(text[at - 1] as string));
          pc++;
          break;
        case 'end':
          failed = at < text.length && !(this.multiline && /[\n\r\u2028\u2029]/.test(text[at] as string));
          pc++;
          break;
        case 'word':
        case 'no-word':
          failed = (isWord(text, at - 1) !== isWord(text, at)) !== (instruction.op === 'word');
          pc++;
          break;
        case 'found':
          return at;
      }
      while (failed) {
        const least = ways.pop();
        if (least === undefined) return -1;
        at = ways.pop() as number;
        pc = ways.pop() as number;
        if (pc < 0) {
          registers[-1 - pc] = at;
          continue;
        }
        if (least >= 0) {
          const { back } = code[pc - 1] as Instruction & { op: 'run' };
          at = step(text, at, !back);
          if (at !== least) ways.push(pc, at, least);
        }
        failed = false;
      }
    }
  }
}
