// The element types of both file formats in one table: how many elements make a block, how many bytes it takes.
// A type without a decoder (dequantize.ts) has a row here all the same, so that a refusal can name it.

export interface ElementType {
  /** Elements in a block: 1 for plain numbers. */
  readonly elements: number;
  readonly bytes: number;
}

const plain = (bytes: number): ElementType => ({ elements: 1, bytes });

/** Types that `decodeRows` reads. */
export const ELEMENT_TYPES: Readonly<Record<string, ElementType>> = {
  F64: plain(8),
  F32: plain(4),
  F16: plain(2),
  BF16: plain(2),
  F8_E4M3: plain(1),
  F8_E5M2: plain(1),
  I64: plain(8),
  U64: plain(8),
  I32: plain(4),
  U32: plain(4),
  I16: plain(2),
  U16: plain(2),
  I8: plain(1),
  U8: plain(1),
  BOOL: plain(1),
  Q4_0: { elements: 32, bytes: 18 },
  Q4_1: { elements: 32, bytes: 20 },
  Q5_0: { elements: 32, bytes: 22 },
  Q5_1: { elements: 32, bytes: 24 },
  Q8_0: { elements: 32, bytes: 34 },
  Q4_K: { elements: 256, bytes: 144 },
  Q5_K: { elements: 256, bytes: 176 },
  Q6_K: { elements: 256, bytes: 210 },
};

export const elementType = (name: string): ElementType | undefined =>
  Object.hasOwn(ELEMENT_TYPES, name) ? ELEMENT_TYPES[name] : undefined;

/** GGUF writes types as numbers (ggml.h, `enum ggml_type`); gaps are types that were removed. */
export const GGUF_TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [0, 'F32'],
  [1, 'F16'],
  [2, 'Q4_0'],
  [3, 'Q4_1'],
  [6, 'Q5_0'],
  [7, 'Q5_1'],
  [8, 'Q8_0'],
  [9, 'Q8_1'],
  [10, 'Q2_K'],
  [11, 'Q3_K'],
  [12, 'Q4_K'],
  [13, 'Q5_K'],
  [14, 'Q6_K'],
  [15, 'Q8_K'],
  [16, 'IQ2_XXS'],
  [17, 'IQ2_XS'],
  [18, 'IQ3_XXS'],
  [19, 'IQ1_S'],
  [20, 'IQ4_NL'],
  [21, 'IQ3_S'],
  [22, 'IQ2_S'],
  [23, 'IQ4_XS'],
  [24, 'I8'],
  [25, 'I16'],
  [26, 'I32'],
  [27, 'I64'],
  [28, 'F64'],
  [29, 'IQ1_M'],
  [30, 'BF16'],
  [34, 'TQ1_0'],
  [35, 'TQ2_0'],
  [39, 'MXFP4'],
]);
