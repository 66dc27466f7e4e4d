// Reads the table of tensors out of a PyTorch checkpoint's pickle. A pickle is a program for a small stack machine that
// may call anything; this one knows the few instructions and the few functions that a table of tensors needs, builds
// plain data of them, and refuses the rest by name. No code is ever run.
import { bad } from '../base/refuse.ts';

/** A tensor: its storage, and which elements of it. */
export interface PickledTensor {
  /** `F32`, `BF16` …, as safetensors calls it. */
  readonly type: string;
  /** The name of the storage in the archive. */
  readonly storage: string;
  /** In elements. */
  readonly offset: number;
  readonly shape: readonly number[];
}

const STORAGES: Readonly<Record<string, string>> = {
  DoubleStorage: 'F64',
  FloatStorage: 'F32',
  HalfStorage: 'F16',
  BFloat16Storage: 'BF16',
  LongStorage: 'I64',
  IntStorage: 'I32',
  ShortStorage: 'I16',
  CharStorage: 'I8',
  ByteStorage: 'U8',
  BoolStorage: 'BOOL',
};

class Global {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

class Storage {
  readonly type: string;
  readonly key: string;
  constructor(type: string, key: string) {
    this.type = type;
    this.key = key;
  }
}

class Tensor implements PickledTensor {
  readonly type: string;
  readonly storage: string;
  readonly offset: number;
  readonly shape: readonly number[];
  constructor({ type, key }: Storage, offset: number, shape: readonly number[]) {
    this.type = type;
    this.storage = key;
    this.offset = offset;
    this.shape = shape;
  }
}

const MARK = Symbol('mark');
/** Values are data of these kinds only; an array stands for lists and tuples. */
type Value = null | boolean | number | string | Global | Storage | Tensor | Value[] | Map<Value, Value>;
type Entry = Value | typeof MARK;

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

class Machine {
  readonly #file: string;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #stack: Entry[] = [];
  readonly #memo = new Map<number, Value>();
  #at = 0;

  constructor(file: string, bytes: Uint8Array) {
    this.#file = file;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  run(): Value {
    for (;;) {
      const code = this.#byte();
      if (code === 0x2e) return this.#pop(); // STOP
      const step = STEPS[code];
      if (!step)
        throw this.#wrong(`instruction 0x${code.toString(16)} at byte ${this.#at - 1} is not needed by tensors`);
      step(this);
    }
  }

  #wrong(message: string) {
    return bad(
      `${this.#file}: its pickle is not a plain table of tensors: ${message}`,
      'Only tables of tensors are read, and no code is run. Convert the file to safetensors.',
    );
  }

  #take(count: number): number {
    const from = this.#at;
    if (count < 0 || from + count > this.#bytes.length) throw this.#wrong(`it ends inside an instruction`);
    this.#at += count;
    return from;
  }

  #byte(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  #text(length: number): string {
    const from = this.#take(length);
    return new TextDecoder().decode(this.#bytes.subarray(from, from + length));
  }

  #line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#at);
    if (end < 0) throw this.#wrong('it ends inside a name');
    const text = this.#text(end - this.#at);
    this.#take(1);
    return text;
  }

  #pop(): Value {
    const top = this.#stack.pop();
    if (top === undefined || top === MARK) throw this.#wrong('its stack is empty');
    return top;
  }

  #top(): Value {
    const top = this.#pop();
    this.#stack.push(top);
    return top;
  }

  #toMark(): Value[] {
    const mark = this.#stack.lastIndexOf(MARK);
    if (mark < 0) throw this.#wrong('a mark is missing');
    const values = this.#stack.splice(mark) as Value[];
    return values.slice(1);
  }

  skip(count: number): void {
    this.#take(count);
  }
  push(value: Entry): void {
    this.#stack.push(value);
  }
  mark(): void {
    this.#stack.push(MARK);
  }
  number(bytes: 1 | 2 | 4): void {
    const at = this.#take(bytes);
    const view = this.#view;
    this.push(bytes === 1 ? view.getUint8(at) : bytes === 2 ? view.getUint16(at, true) : view.getInt32(at, true));
  }
  float(): void {
    this.push(this.#view.getFloat64(this.#take(8)));
  }
  /** A whole number of up to eight bytes. */
  long(): void {
    const length = this.#byte();
    if (length > 8) throw this.#wrong(`a number of ${length} bytes`);
    const from = this.#take(length);
    let value = 0n;
    for (let i = length - 1; i >= 0; i--) value = (value << 8n) | BigInt(this.#bytes[from + i] as number);
    this.push(Number(BigInt.asIntN(8 * length, value)));
  }
  string(lengthBytes: 1 | 4): void {
    this.push(this.#text(lengthBytes === 1 ? this.#byte() : this.#view.getUint32(this.#take(4), true)));
  }
  put(bytes: 0 | 1 | 4): void {
    const index =
      bytes === 0 ? this.#memo.size : bytes === 1 ? this.#byte() : this.#view.getUint32(this.#take(4), true);
    this.#memo.set(index, this.#top());
  }
  get(bytes: 1 | 4): void {
    const index = bytes === 1 ? this.#byte() : this.#view.getUint32(this.#take(4), true);
    const value = this.#memo.get(index);
    if (value === undefined) throw this.#wrong(`entry ${index} of its memo is missing`);
    this.push(value);
  }
  tuple(count: number | null): void {
    const values = count === null ? this.#toMark() : Array.from({ length: count }, () => this.#pop()).reverse();
    this.push(values);
  }
  append(many: boolean): void {
    const values = many ? this.#toMark() : [this.#pop()];
    const list = this.#pop();
    if (!Array.isArray(list)) throw this.#wrong('something is appended to what is no list');
    for (const value of values) list.push(value);
    this.push(list);
  }
  setItems(many: boolean): void {
    const values = many ? this.#toMark() : [this.#pop(), this.#pop()].reverse();
    const map = this.#top();
    if (!(map instanceof Map) || values.length % 2 !== 0) throw this.#wrong('entries of what is no dictionary');
    for (let i = 0; i < values.length; i += 2) map.set(values[i] as Value, values[i + 1] as Value);
  }
  global(fromStack: boolean): void {
    const [module, name] = fromStack ? [this.#pop(), this.#pop()].reverse() : [this.#line(), this.#line()];
    const full = `${module}.${name}`;
    const known = Object.hasOwn(CALLS, full) || (module === 'torch' && Object.hasOwn(STORAGES, `${name}`));
    if (!known) throw this.#wrong(`it names ${full.slice(0, 100)}`);
    this.push(new Global(full));
  }
  /** A storage: ('storage', its class, its name, its device, its length). */
  persistent(): void {
    const id = this.#pop();
    const [kind, type, key] = Array.isArray(id) ? (id as Value[]) : [];
    const stored = type instanceof Global ? STORAGES[type.name.slice('torch.'.length)] : undefined;
    if (kind !== 'storage' || stored === undefined || typeof key !== 'string' || !/^\w+$/.test(key))
      throw this.#wrong('a reference that is no storage');
    this.push(new Storage(stored, key));
  }
  reduce(): void {
    const values = this.#pop();
    const call = this.#pop();
    const make = call instanceof Global && Object.hasOwn(CALLS, call.name) ? CALLS[call.name] : undefined;
    const made = make && Array.isArray(values) ? make(values as Value[]) : undefined;
    if (made === undefined) throw this.#wrong('a call that makes no tensor');
    this.push(made);
  }
  /** State of an object: only that of a dictionary, which tensors do not need. */
  build(): void {
    this.#pop();
    if (!(this.#top() instanceof Map)) throw this.#wrong('state of what is no dictionary');
  }
}

/** As many as PyTorch's own tensors may have. A list can be named again and again, and is read each time. */
const MOST_DIMENSIONS = 64;

/** Only rows that lie one after the other are read. */
const isContiguous = (shape: readonly number[], stride: readonly number[]): boolean => {
  let expected = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    if (shape[i] !== 1 && stride[i] !== expected) return false;
    expected *= shape[i] as number;
  }
  return true;
};

const CALLS: Readonly<Record<string, (values: readonly Value[]) => Value | undefined>> = {
  'collections.OrderedDict': (values) => (values.length === 0 ? new Map() : undefined),
  'torch._utils._rebuild_tensor_v2': ([storage, offset, shape, stride]) => {
    if (!(storage instanceof Storage) || !isSize(offset) || !Array.isArray(shape) || !Array.isArray(stride)) return;
    if (shape.length > MOST_DIMENSIONS || stride.length !== shape.length) return;
    if (!shape.every(isSize) || !stride.every(isSize) || !isContiguous(shape, stride)) return;
    return new Tensor(storage, offset, shape);
  },
  'torch._utils._rebuild_parameter': ([tensor]) => (tensor instanceof Tensor ? tensor : undefined),
};

/** By code; STOP is not among them. */
const STEPS: Readonly<Record<number, (machine: Machine) => void>> = {
  128: (m) => m.skip(1), // PROTO
  149: (m) => m.skip(8), // FRAME
  40: (m) => m.mark(),
  78: (m) => m.push(null), // NONE
  136: (m) => m.push(true),
  137: (m) => m.push(false),
  75: (m) => m.number(1),
  77: (m) => m.number(2),
  74: (m) => m.number(4),
  138: (m) => m.long(),
  71: (m) => m.float(),
  88: (m) => m.string(4),
  140: (m) => m.string(1),
  113: (m) => m.put(1),
  114: (m) => m.put(4),
  148: (m) => m.put(0), // MEMOIZE
  104: (m) => m.get(1),
  106: (m) => m.get(4),
  41: (m) => m.push([]), // EMPTY_TUPLE
  133: (m) => m.tuple(1),
  134: (m) => m.tuple(2),
  135: (m) => m.tuple(3),
  116: (m) => m.tuple(null),
  93: (m) => m.push([]), // EMPTY_LIST
  97: (m) => m.append(false),
  101: (m) => m.append(true),
  125: (m) => m.push(new Map()), // EMPTY_DICT
  115: (m) => m.setItems(false),
  117: (m) => m.setItems(true),
  99: (m) => m.global(false),
  147: (m) => m.global(true),
  81: (m) => m.persistent(), // BINPERSID
  82: (m) => m.reduce(),
  98: (m) => m.build(),
};

/** The tensors of a checkpoint, by name. */
export const readPickledTensors = (file: string, bytes: Uint8Array): ReadonlyMap<string, PickledTensor> => {
  const table = new Machine(file, bytes).run();
  const entries = table instanceof Map ? [...table] : [];
  if (!(table instanceof Map) || !entries.every(([name, value]) => typeof name === 'string' && value instanceof Tensor))
    throw bad(`${file}: it holds something else than tensors by name`, 'Only the weights of a model are read.');
  return new Map(entries as [string, Tensor][]);
};
