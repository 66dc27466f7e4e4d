// A structure that TypeScript and WGSL share is declared once: its WGSL text, its packer and its reader follow from the
// fields. Fields are 32-bit words and arrays of them, so a struct has no padding in a storage buffer. The text of each
// struct stands in shaders/include/structs/, written by src/kernels/shaders.test.ts.
import type { Word } from './types.ts';

/** `count` elements; null: as many as the buffer holds, which only a struct's last field may be. */
interface List<Element> {
  readonly element: Element;
  readonly count: number | null;
}

type AnyStruct = Struct<unknown, never>;
type Kind = Word | AnyStruct;
type Fields = Readonly<Record<string, Word | List<Kind>>>;

type ValueOf<Field> =
  Field extends List<infer Element> ? readonly (Element extends Struct<infer Value, never> ? Value : number)[] : number;

/** A value as `unpack` gives it. */
type Value<F extends Fields> = { readonly [Name in keyof F]: ValueOf<F[Name]> };

/** A value as `pack` takes it. */
type Input<F extends Fields, Defaults> = {
  readonly [Name in keyof F as Name extends keyof Defaults ? never : Name]: ValueOf<F[Name]>;
} & { readonly [Name in keyof F as Name extends keyof Defaults ? Name : never]?: ValueOf<F[Name]> | undefined };

/** One buffer, as integers and as floats. */
interface Memory {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly floats: Float32Array<ArrayBuffer>;
}

const memoryOf = (buffer: ArrayBuffer): Memory => ({
  words: new Uint32Array(buffer),
  floats: new Float32Array(buffer),
});

export interface Struct<Value, Input> {
  readonly name: string;
  readonly wgsl: string;
  /** The structs that `wgsl` names. */
  readonly inner: readonly AnyStruct[];
  /** Words of a value, without the elements of an array that has no count. */
  readonly words: number;
  /** The values one after the other, then zeros up to `room` of them. */
  pack(values: readonly Input[], room?: number): Uint32Array<ArrayBuffer>;
  /** As many values as the data holds; one, where the last field is an array that has no count. */
  unpack(data: ArrayBuffer): Value[];
  /** Both for one value, from word `at`; `end` is the end of an array that has no count. */
  write(memory: Memory, at: number, value: Input): void;
  read(memory: Memory, at: number, end: number): Value;
}

/** What `pack` takes. */
export type Packed<S> = S extends Struct<unknown, infer Input> ? Input : never;

export const listOf = <const Element extends Kind>(element: Element, count: number | null = null): List<Element> => ({
  element,
  count,
});

const wordsOf = (element: Kind): number => (typeof element === 'string' ? 1 : element.words);

const put = ({ words, floats }: Memory, at: number, kind: Word, value: number): void => {
  if (kind === 'f32') floats[at] = value;
  else words[at] = value;
};

const putElement = (memory: Memory, at: number, kind: Kind, value: unknown): void => {
  if (typeof kind === 'string') put(memory, at, kind, value as number);
  else kind.write(memory, at, value as never);
};

const get = ({ words, floats }: Memory, at: number, kind: Word): number => {
  const word = words[at] as number;
  if (kind === 'f32') return floats[at] as number;
  return kind === 'i32' ? word | 0 : word;
};

/** `defaults`: of fields that `pack` may be given values without. */
export const defineStruct = <
  const F extends Fields,
  const Defaults extends { readonly [Name in keyof F]?: number } = Record<never, never>,
>(
  name: string,
  fields: F,
  defaults?: Defaults,
): Struct<Value<F>, Input<F, Defaults>> => {
  let words = 0;
  const layout = Object.entries(fields).map(([field, kind]) => {
    const { element, count } = typeof kind === 'string' ? { element: kind, count: undefined } : kind;
    const offset = words;
    words += (count === undefined ? 1 : (count ?? 0)) * wordsOf(element);
    return { field, element, count, offset };
  });
  const last = layout.at(-1);

  const members = layout.map(({ field, element, count }) => {
    const type = typeof element === 'string' ? element : element.name;
    if (count === undefined) return `  ${field}: ${type},`;
    return `  ${field}: array<${type}${count === null ? '' : `, ${count}`}>,`;
  });

  type Any = Readonly<Record<string, unknown>>;
  const write = (memory: Memory, at: number, value: Any): void => {
    for (const { field, element, count, offset } of layout) {
      const own = value[field] ?? defaults?.[field];
      if (count === undefined) putElement(memory, at + offset, element, own);
      else
        (own as readonly unknown[]).forEach((each, i) => {
          putElement(memory, at + offset + i * wordsOf(element), element, each);
        });
    }
  };
  const read = (memory: Memory, at: number, end: number): Any =>
    Object.fromEntries(
      layout.map(({ field, element, count, offset }) => {
        const first = at + offset;
        const width = wordsOf(element);
        const one = (i: number): unknown =>
          typeof element === 'string'
            ? get(memory, first + i * width, element)
            : element.read(memory, first + i * width, first + (i + 1) * width);
        if (count === undefined) return [field, one(0)];
        return [field, Array.from({ length: count ?? Math.floor((end - first) / width) }, (_, i) => one(i))];
      }),
    );

  /** Of one value, the elements of an array without a count included. */
  const sizeOf = (value: Any): number =>
    last?.count === null ? words + (value[last.field] as readonly unknown[]).length * wordsOf(last.element) : words;

  return {
    name,
    wgsl: `struct ${name} {\n${members.join('\n')}\n}\n`,
    inner: layout.flatMap(({ element }) => (typeof element === 'string' ? [] : [element])),
    words,
    pack: (values: readonly Any[], room = values.length) => {
      if (last?.count === null && room !== 1)
        throw new Error(`${name} has an array without a count: it packs one value`);
      const memory = memoryOf(new ArrayBuffer(4 * room * (last?.count === null ? sizeOf(values[0] as Any) : words)));
      values.forEach((value, i) => {
        write(memory, i * words, value);
      });
      return memory.words;
    },
    unpack: (data: ArrayBuffer) => {
      const memory = memoryOf(data);
      const end = memory.words.length;
      const count = last?.count === null ? 1 : Math.floor(end / words);
      return Array.from({ length: count }, (_, i) => read(memory, i * words, end));
    },
    write,
    read,
  } as unknown as Struct<Value<F>, Input<F, Defaults>>;
};
