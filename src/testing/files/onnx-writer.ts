// Small ONNX files made on the spot, for tests of what reads them: protocol buffers by hand, the few fields that matter.

type Field = readonly [number: number, value: number | string | Uint8Array];

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];

/** A message: numbers as varints, everything else with its length in front. */
const message = (...fields: readonly Field[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [...varint(number * 8), ...varint(value)];
      const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
      return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
    }),
  );

const FLOAT = 1;
const INT64 = 7;

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  /** Whole numbers. */
  readonly attributes?: Readonly<Record<string, number>>;
}

const node = ({ op, inputs, output, attributes = {} }: OnnxNode): Uint8Array<ArrayBuffer> =>
  message(
    ...inputs.map((input): Field => [1, input]),
    [2, output],
    [4, op],
    ...Object.entries(attributes).map(([name, value]): Field => [5, message([1, name], [3, value], [20, 2])]),
  );

/** A constant: f32, or int64 where it is a list of bigints. */
const tensor = (
  name: string,
  shape: readonly number[],
  values: Float32Array | BigInt64Array,
): Uint8Array<ArrayBuffer> =>
  message(
    ...shape.map((size): Field => [1, size]),
    [2, values instanceof Float32Array ? FLOAT : INT64],
    [8, name],
    [9, new Uint8Array(values.buffer)],
  );

/** Names are dimensions that vary. */
const value = (name: string, type: number, shape: readonly (number | string)[]): Uint8Array<ArrayBuffer> => {
  const sizes = shape.map((size): Field => [1, message(typeof size === 'number' ? [1, size] : [2, size])]);
  return message([1, name], [2, message([1, message([1, type], [2, message(...sizes)])])]);
};

export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  readonly constants: Readonly<
    Record<string, { readonly shape: readonly number[]; readonly values: Float32Array | BigInt64Array }>
  >;
  /** int64 `[1, length]` each. */
  readonly inputs: readonly string[];
  readonly output: { readonly name: string; readonly shape: readonly (number | string)[]; readonly type?: 'int64' };
}

export const writeOnnx = ({ nodes, constants, inputs, output }: OnnxGraph): Uint8Array<ArrayBuffer> => {
  const graph = message(
    ...nodes.map((each): Field => [1, node(each)]),
    [2, 'test'],
    ...Object.entries(constants).map(([name, { shape, values }]): Field => [5, tensor(name, shape, values)]),
    ...inputs.map((name): Field => [11, value(name, INT64, [1, 'length'])]),
    [12, value(output.name, output.type === 'int64' ? INT64 : FLOAT, output.shape)],
  );
  return message([1, 8], [7, graph], [8, message([2, 17])]);
};
