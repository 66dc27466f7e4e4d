// The element types of both file formats in one table: how many elements make a block, how many bytes it takes.

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
  Q1_0: { elements: 128, bytes: 18 },
  Q2_K: { elements: 256, bytes: 84 },
  Q3_K: { elements: 256, bytes: 110 },
  TQ1_0: { elements: 256, bytes: 54 },
  TQ2_0: { elements: 256, bytes: 66 },
  IQ1_S: { elements: 256, bytes: 50 },
  IQ1_M: { elements: 256, bytes: 56 },
  IQ2_XXS: { elements: 256, bytes: 66 },
  IQ2_XS: { elements: 256, bytes: 74 },
  IQ2_S: { elements: 256, bytes: 82 },
  IQ3_XXS: { elements: 256, bytes: 98 },
  IQ3_S: { elements: 256, bytes: 110 },
  IQ4_NL: { elements: 32, bytes: 18 },
  IQ4_XS: { elements: 256, bytes: 136 },
  MXFP4: { elements: 32, bytes: 17 },
  NVFP4: { elements: 64, bytes: 36 },
};

export const elementType = (name: string): ElementType | undefined =>
  Object.hasOwn(ELEMENT_TYPES, name) ? ELEMENT_TYPES[name] : undefined;
