// CPU reference of the matmul family: the layout read back into plain rows, then sums in f64.
import { GROUP, type MatrixLayout } from '../../weights/quantize/device-layout.ts';
import type { MatmulShape } from './matmul.ts';

const half = (bits: number): number => {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const magnitude = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -magnitude : magnitude;
};
const halfAt = (words: Uint32Array, i: number): number => half(((words[i >> 1] ?? 0) >> (16 * (i & 1))) & 0xffff);

/** The matrix entry (n, k) as the shader sees it. */
export const weightAt = (
  { format, paddedRows }: MatrixLayout,
  weights: Uint32Array,
  scales: Uint32Array,
  n: number,
  k: number,
): number => {
  const [g, i] = [Math.floor(k / GROUP), k % GROUP];
  const byte = (cell: number, b: number): number => ((weights[cell * 4 + (b >> 2)] ?? 0) >> (8 * (b & 3))) & 0xff;
  switch (format) {
    case 'f32':
      return new Float32Array(weights.buffer, weights.byteOffset)[((k >> 2) * paddedRows + n) * 4 + (k & 3)] ?? 0;
    case 'f16':
      return halfAt(weights, ((k >> 3) * paddedRows + n) * 8 + (k & 7));
    case 'q8':
      return ((byte((2 * g + (i >> 4)) * paddedRows + n, i & 15) << 24) >> 24) * halfAt(scales, g * paddedRows + n);
    case 'q6': {
      const cell = g * paddedRows + n;
      const plane = (p: number): number => (3 * g + p) * paddedRows + n;
      const low = (byte(cell, 4 * (i >> 3) + (i & 3)) >> (i & 4)) & 15;
      const high = ((scales[plane(1 + (i >> 4))] ?? 0) >> (8 * (i & 3) + 2 * ((i >> 2) & 3))) & 3;
      return (low + 16 * high - 32) * halfAt(scales, 2 * plane(0) + (i >> 4));
    }
    case 'q4':
    case 'q4m': {
      const cell = g * paddedRows + n;
      const nibble = (byte(cell, 4 * (i >> 3) + (i & 3)) >> (i & 4)) & 15;
      return format === 'q4'
        ? (nibble - 8) * halfAt(scales, cell)
        : nibble * halfAt(scales, 2 * cell) + halfAt(scales, 2 * cell + 1);
    }
  }
};

const silu = (x: number): number => x / (1 + Math.exp(-x));
const gelu = (x: number): number => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** By the error function: Φ(x) − ½ is the normal density times x + x³/3 + x⁵/(3·5) + … */
export const exactGelu = (x: number): number => {
  if (Math.abs(x) > 9) return Math.max(0, x); // within 1e-17, and the terms would overflow
  let [sum, term] = [0, x];
  for (let n = 3; n < 400; n += 2) {
    sum += term;
    term *= x ** 2 / n;
  }
  return x * (0.5 + (sum * Math.exp(-(x ** 2) / 2)) / Math.sqrt(2 * Math.PI));
};

/** `weight(n, k)` against rows of activations; `before` is what `add` adds to. */
export const matmulReference = (
  weight: (n: number, k: number) => number,
  outputs: number,
  input: readonly (readonly number[])[],
  { epilogue, scale = 1, softCap = null }: Omit<MatmulShape, 'rows'>,
  { bias, before }: { bias?: readonly number[]; before?: readonly (readonly number[])[] } = {},
): number[][] =>
  input.map((x, m) => {
    const y = Array.from({ length: outputs }, (_, n) =>
      x.reduce((sum, xk, k) => sum + xk * weight(n, k), bias?.[n] ?? 0),
    );
    if (epilogue === 'add') return y.map((value, n) => value * scale + (before?.[m]?.[n] ?? 0));
    if (epilogue === 'store')
      return y.map((value) => (softCap === null ? value * scale : softCap * Math.tanh((value * scale) / softCap)));
    if (epilogue === 'gelu' || epilogue === 'exact-gelu') return y.map(epilogue === 'gelu' ? gelu : exactGelu);
    const activation = epilogue === 'silu-mul' ? silu : gelu;
    return y.flatMap((up, n) => (n % 2 ? [activation(y[n - 1] ?? 0) * up] : []));
  });
