// The bytes of each token id, from tokenizer.json. The library joins whole texts and tidies spaces; decoding by bytes
// makes a stream of deltas add up to the text exactly.
import type { OutriderError } from '../base/errors.ts';
import { bad } from '../base/refuse.ts';
import type { Entries } from './check-tokenizer.ts';

type Json = Readonly<Record<string, unknown>>;

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

/** How a vocabulary entry is written: GPT-2's byte alphabet, or text with `▁` for a space and `<0x0A>` for a byte. */
interface Spelling {
  readonly byteLevel: boolean;
  readonly space: string | null;
  readonly byteFallback: boolean;
  /** The text's first character is dropped when it is a space: the encoder put it there. */
  readonly trimStart: boolean;
  /** All spaces of the first token are dropped. */
  readonly dropsFirst: boolean;
  /** Without a decoder tokens are words: a space stands before each but the first. */
  readonly words: boolean;
}

/** GPT-2 writes each byte as one printable character: itself where it prints, else the next one from U+0100 on. */
const byteOfCharacter: ReadonlyMap<string, number> = (() => {
  const prints = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  const table = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) table.set(String.fromCodePoint(prints(byte) ? byte : next++), byte);
  return table;
})();

const encoder = new TextEncoder();

/** A text in that alphabet. */
export const inByteAlphabet = (text: string): string => {
  const characters = [...byteOfCharacter.keys()]; // by byte
  return Array.from(encoder.encode(text), (byte) => characters[byte]).join('');
};

const readSpelling = (decoder: unknown): Spelling => {
  const steps = (decoder as Json | null)?.type === 'Sequence' ? (decoder as Json).decoders : decoder ? [decoder] : [];
  const spelling = {
    byteLevel: false,
    space: null as string | null,
    byteFallback: false,
    trimStart: false,
    dropsFirst: false,
    words: !decoder,
  };
  for (const step of steps as Json[]) {
    switch (step.type) {
      case 'ByteLevel':
        spelling.byteLevel = true;
        break;
      case 'ByteFallback':
        spelling.byteFallback = true;
        break;
      case 'Replace':
        if (step.content !== ' ') throw unsupported(`Replace to "${String(step.content)}"`);
        spelling.space = String((step.pattern as Json).String);
        break;
      case 'Metaspace':
        spelling.space = String(step.replacement ?? '▁');
        spelling.dropsFirst = step.prepend_scheme !== 'never';
        break;
      case 'Strip':
        if (step.content !== ' ' || step.stop) throw unsupported('Strip of anything but leading spaces');
        spelling.trimStart = Number(step.start) > 0;
        break;
      case 'Fuse':
        break;
      default:
        throw unsupported(String(step.type));
    }
  }
  return spelling;
};

const unsupported = (what: string): OutriderError =>
  bad(
    `tokenizer.json: decoder ${what} is not supported`,
    'Supported are ByteLevel, Metaspace, and sequences of Replace, ByteFallback, Fuse and Strip.',
  );

export class Pieces {
  /** One more than the highest token id. */
  readonly size: number;
  readonly trimStart: boolean;
  readonly #names: string[] = [];
  readonly #added = new Map<number, AddedToken>();
  readonly #spelling: Spelling;

  constructor(tokenizer: Json, entries: Entries) {
    this.#spelling = readSpelling(tokenizer.decoder);
    this.trimStart = this.#spelling.trimStart;
    for (const [name, id] of entries) this.#names[id] = name;
    for (const token of (tokenizer.added_tokens ?? []) as AddedToken[]) {
      this.#names[token.id] = token.content;
      this.#added.set(token.id, token);
    }
    this.size = this.#names.length;
  }

  /** The vocabulary's entry, as it is written in the file; null when there is none. */
  name(id: number): string | null {
    return this.#names[id] ?? null;
  }

  /** The texts of the special tokens. */
  specials(): readonly string[] {
    return [...this.#added.values()].filter(({ special }) => special).map(({ content }) => content);
  }

  isSpecial(id: number): boolean {
    return this.#added.get(id)?.special ?? false;
  }

  /**
   * The token's bytes; none for an id that the vocabulary does not have (models pad their embedding). `isFirst`: it is
   * the first token of a text.
   */
  bytes(id: number, isFirst = false): Uint8Array {
    const name = this.#names[id];
    if (name === undefined) return new Uint8Array();
    const { byteLevel, byteFallback, space, dropsFirst, words } = this.#spelling;
    if (words) return encoder.encode(isFirst ? name : ` ${name}`);
    if (byteLevel) {
      // Added tokens are written as they are: their texts need not be in the byte alphabet.
      if (this.#added.has(id)) return encoder.encode(name);
      const bytes = Array.from(name, (character) => byteOfCharacter.get(character));
      // An entry outside the byte alphabet is plain text, as the reference implementation reads it.
      return bytes.includes(undefined) ? encoder.encode(name) : Uint8Array.from(bytes as number[]);
    }
    if (byteFallback && /^<0x[0-9A-Fa-f]{2}>$/.test(name)) return Uint8Array.of(Number.parseInt(name.slice(3, 5), 16));
    return encoder.encode(space === null ? name : name.replaceAll(space, isFirst && dropsFirst ? '' : ' '));
  }
}
