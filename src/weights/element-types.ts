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
};

export const elementType = (name: string): ElementType | undefined =>
  Object.hasOwn(ELEMENT_TYPES, name) ? ELEMENT_TYPES[name] : undefined;
