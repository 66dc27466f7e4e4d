// The text of one matmul variant. Accumulators are named scalars (an indexed local array spills: 3× slower), which
// needs text rather than `override` constants. The walk through a group stays a loop: unrolled in text too, M = 16 × R
// = 4 took LLVM 4.1 s to compile instead of 0.7 s and ran no faster. A weight is decoded whole, scale and minimum
// included, and accumulator a{r}_{m} (matrix row r, activation row m) adds weight times activation in K's order. So it
// sees the same operations in all variants of one format, K and number of slices, whatever M, R and the workgroup are:
// a pass of 16 rows equals, bit for bit, 16 passes of one. Products enter sums only through `fma`, so that a compiler
// finds nothing to contract in one variant and not in another.
import { UNIFORM_BYTES } from '../../gpu/device.ts';
import type { WeightFormat } from '../../weights/quantize/device-layout.ts';

export type Epilogue = 'store' | 'add' | 'gelu' | 'exact-gelu' | 'silu-mul' | 'gelu-mul';

export const isPaired = (epilogue: Epilogue): boolean => epilogue === 'silu-mul' || epilogue === 'gelu-mul';

export interface MatmulVariant {
  readonly format: WeightFormat;
  /** Groups of 32 columns: ceil(K / 32). Null: told by a uniform, so that matrices of all widths share a shader. */
  readonly groups: number | null;
  /** Activation rows of a workgroup: M. */
  readonly rows: number;
  readonly epilogue: Epilogue;
  readonly bias: boolean;
  /** Multiplies what is stored or added. */
  readonly scale: number;
  /** Then c·tanh(x / c), where there is a c. */
  readonly softCap: number | null;
  /** `constant` binds UNIFORM_BYTES of the activations as a uniform buffer; `read` binds them as storage. */
  readonly input: 'constant' | 'read';
  /** Neighbouring matrix rows that one lane owns: R, a divisor of 16; even for epilogues that need gate and up. */
  readonly perLane: number;
  /** Lanes that share a matrix row, lane s walking groups s, s + slices, …; 1 = rows per lane, without a barrier. */
  readonly slices: number;
  /** Lanes of a workgroup; a multiple of slices. */
  readonly workgroup: number;
  /**
   * Whether a compiler may unroll the walk through a group; without, its bound comes from a uniform. Mesa unrolled
   * small M on lavapipe, which cost LLVM 1.7 s a variant instead of 0.14 s and bought nothing; a GPU wants it.
   */
  readonly unroll: boolean;
  /**
   * 8: lanes of a subgroup load activations for each other. Lavapipe finds no loop index uniform, so a load is a gather
   * even from one address. Of one or two rows (f32: four) the lanes load the columns of a row and broadcast them. Of
   * more rows each lane loads four columns of one row, which share the work on an address. 0: every lane loads them all.
   */
  readonly together: 0 | 8;
}

const XYZW = ['x', 'y', 'z', 'w'] as const;
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/**
 * A group of 32 columns is walked in steps of this many vec4<f32>. Steps of sixteen columns took up to twice as long for
 * q8 and q6 on lavapipe, and with steps of eight a dispatch takes sixteen rows (docs/log/kernels.md).
 */
const QUADS: Readonly<Record<WeightFormat, number>> = { f32: 1, f16: 2, q8: 2, q6: 2, q4: 2, q4m: 2 };
export const stepsOfGroup = (format: WeightFormat): number => 8 / QUADS[format];

/** Activation rows of one binding where lanes own rows: a lane can load from one binding at a time. */
export const ROWS_OF_BINDING = 8;
type Loading = Pick<MatmulVariant, 'rows' | 'together'>;
/** Whether eight lanes load four rows of a step: lanes 0 to 3 the first four columns of a row each, lanes 4 to 7 the rest. */
const ownQuads = ({ format, rows, together }: MatmulVariant): boolean =>
  together > 0 && rows === 4 && QUADS[format] === 2;
/** Whether each lane loads activations of its own row. */
const ownRows = ({ rows, together }: Loading): boolean => together > 0 && rows >= ROWS_OF_BINDING;
/** Activation rows of each binding, and the number of bindings. */
const rowsOfInput = (variant: Loading): number => (ownRows(variant) ? ROWS_OF_BINDING : variant.rows);
export const inputsOf = (variant: Loading): number => variant.rows / rowsOfInput(variant);
/** Rows that one of these bindings spans: the second begins eight rows after the first, and both end at the same row. */
export const rowsOfBinding = (variant: Loading, tiles: number): number =>
  (tiles - 1) * variant.rows + rowsOfInput(variant);

/** Of q6: word `p` of the group's scales and high bits. */
const plane = (p: string, r: number): string => `(g * 3u + ${p}) * uniforms.paddedRows + source + ${r}u`;

/**
 * `s{r}`, the group's scale, and for q4m `n{r}`, its minimum; for q6 `z{r}`, the scales of both halves. q8 and q4 have
 * the scales of two rows in a word.
 */
const scale = ({ format, perLane }: MatmulVariant, r: number): string[] => {
  const cell = 'g * uniforms.paddedRows + source';
  if (format === 'f32' || format === 'f16') return [];
  if (format === 'q4m')
    return [`let z${r} = unpack2x16float(scales[${cell} + ${r}u]);`, `let s${r} = z${r}.x;`, `let n${r} = z${r}.y;`];
  if (format === 'q6') return [`let z${r} = unpack2x16float(scales[${plane('0u', r)}]);`];
  const own = format === 'q4' ? [`let n${r} = -8.0 * s${r};`] : [];
  if (perLane === 1)
    return [
      `let z0 = unpack2x16float(scales[(${cell}) / 2u]);`,
      'let s0 = select(z0.x, z0.y, (source & 1u) == 1u);',
      ...own,
    ];
  if (r % 2 === 1) return [`let s${r} = z${r - 1}.y;`, ...own];
  return [`let z${r} = unpack2x16float(scales[(${cell}) / 2u + ${r / 2}u]);`, `let s${r} = z${r}.x;`, ...own];
};

/** Whether a cell of a group is loaded whole before the steps through it; with more rows the words took less time. */
const wholeCell = ({ format, rows }: MatmulVariant): boolean =>
  rows === 1 && (format === 'q4' || format === 'q4m' || format === 'q6');

/** The high bits of q6 that go with such a cell. */
const highBits = (r: number): string => `let high${r} = vec2(scales[${plane('1u', r)}], scales[${plane('2u', r)}]);`;

const cellOf = (index: string, r: number): string => `weights[(${index}) * uniforms.paddedRows + source + ${r}u]`;

/** Step c of group g in matrix row `row + r` as vec4<f32> `q{r}_0`, `q{r}_1`, … in K's order. */
const decode = (variant: MatmulVariant, r: number): string[] => {
  switch (variant.format) {
    case 'f32':
      return [`let q${r}_0 = ${cellOf('g * 8u + c', r)};`];
    case 'f16':
      return [
        `let w${r} = ${cellOf('g * 4u + c', r)};`,
        `let q${r}_0 = vec4(unpack2x16float(w${r}.x), unpack2x16float(w${r}.y));`,
        `let q${r}_1 = vec4(unpack2x16float(w${r}.z), unpack2x16float(w${r}.w));`,
      ];
    case 'q8':
      return [
        ...[0, 1].map((i) => {
          const word = `${cellOf('g * 2u + c / 2u', r)}[c % 2u * 2u + ${i}u]`;
          return `let q${r}_${i} = vec4<f32>(unpack4xI8(${word})) * s${r};`;
        }),
      ];
    case 'q6': {
      const high = wholeCell(variant) ? `high${r}[c / 2u]` : `scales[${plane('c / 2u + 1u', r)}]`;
      const value = (nibbles: string, bits: string): string =>
        `fma(vec4<f32>(unpack4xU8((${nibbles} & 0x0f0f0f0fu) | (${bits} & 0x30303030u))), vec4(s${r}), vec4(n${r}))`;
      return [
        `let w${r} = ${wholeCell(variant) ? `cell${r}` : cellOf('g', r)}[c];`,
        `let h${r} = ${high} >> (c % 2u * 4u);`,
        `let s${r} = select(z${r}.x, z${r}.y, c > 1u);`,
        `let n${r} = -32.0 * s${r};`,
        `let q${r}_0 = ${value(`w${r}`, `(h${r} << 4u)`)};`,
        `let q${r}_1 = ${value(`(w${r} >> 4u)`, `(h${r} << 2u)`)};`,
      ];
    }
    case 'q4':
    case 'q4m': {
      const value = (nibbles: string): string =>
        `fma(vec4<f32>(unpack4xU8(${nibbles} & 0x0f0f0f0fu)), vec4(s${r}), vec4(n${r}))`;
      return [
        `let w${r} = ${wholeCell(variant) ? `cell${r}` : cellOf('g', r)}[c];`,
        `let q${r}_0 = ${value(`w${r}`)};`,
        `let q${r}_1 = ${value(`(w${r} >> 4u)`)};`,
      ];
    }
  }
};

/** `v…`: what a lane loads of step c for the activation rows from m on, as many as are loaded at once. */
const load = (variant: MatmulVariant, m: number): string[] => {
  const { format, together } = variant;
  const quads = QUADS[format];
  if (ownRows(variant)) {
    const block = m / ROWS_OF_BINDING;
    return m % ROWS_OF_BINDING > 0
      ? []
      : range(quads).map((i) => `let v${m}_${i} = input${block}[firstGroup + g][c * ${quads}u + ${i}u];`);
  }
  if (ownQuads(variant))
    return m > 0
      ? []
      : [`let v = input0[firstGroup + g + laneInSubgroup % 4u * width][c * 2u + laneInSubgroup % 8u / 4u];`];
  const quad = (i: string): string => `input0[firstGroup + g + ${m}u * width][c * ${quads}u + ${i}]`;
  if (together === 0) return range(quads).map((i) => `let v${m}_${i} = ${quad(`${i}u`)};`);
  if (quads === 1) return [`let v${m}_0 = ${quad('0u')}[laneInSubgroup % 4u];`];
  return range(quads / 2).map(
    (i) => `let v${m}_${i} = ${quad(`${2 * i}u + laneInSubgroup % 8u / 4u`)}[laneInSubgroup % 4u];`,
  );
};

/** Column k of step c of activation row m. */
const activation = (variant: MatmulVariant, m: number, k: number): string => {
  const at = XYZW[k & 3];
  if (ownRows(variant)) {
    const lane = m % ROWS_OF_BINDING;
    return `subgroupShuffle(v${m - lane}_${k >> 2}.${at}, ${lane}u)`;
  }
  if (ownQuads(variant)) return `subgroupShuffle(v.${at}, ${m + (k >> 2) * 4}u)`;
  if (variant.together === 0) return `v${m}_${k >> 2}.${at}`;
  return `subgroupBroadcast(v${m}_${k >> 3}, ${k % Math.min(8, 4 * QUADS[variant.format])}u)`;
};

/** One group's products. */
const multiply = (variant: MatmulVariant): string[] => {
  const { format, perLane, rows, unroll } = variant;
  const own = range(perLane);
  return [
    ...own.flatMap((r) => scale(variant, r)),
    ...(wholeCell(variant) ? own.map((r) => `let cell${r} = ${cellOf('g', r)};`) : []),
    ...(wholeCell(variant) && format === 'q6' ? own.map(highBits) : []),
    `for (var c = 0u; c < ${unroll ? `${stepsOfGroup(format)}u` : 'uniforms.steps'}; c++) {`,
    ...own.flatMap((r) => decode(variant, r)),
    ...range(rows).flatMap((m) => [
      ...load(variant, m),
      ...range(4 * QUADS[format]).flatMap((k) => [
        `let x${m}_${k} = ${activation(variant, m, k)};`,
        ...own.map((r) => `a${r}_${m} = fma(q${r}_${k >> 2}.${XYZW[k & 3]}, x${m}_${k}, a${r}_${m});`),
      ]),
    ]),
    '}',
  ];
};

/**
 * Stores `value(r, m)` for the lane's rows r in activation rows m. The question whether r is there is asked once for all
 * m: asked for each m, it made SwiftShader take a fifth to a half longer to compile the kernels of sixteen rows.
 */
const epilogue = (
  { epilogue, bias, scale, softCap, perLane }: MatmulVariant,
  activationRows: readonly (number | 'm')[],
  value: (r: number, m: number | 'm') => string,
): string[] => {
  const pair = isPaired(epilogue) ? 2 : 1;
  const finish = (j: number, m: number | 'm'): string => {
    const at = `output[(firstRow + ${m}) * uniforms.outputStride + (uniforms.start + row) / ${pair}u + ${j}u]`;
    const sum = (r: number): string => (bias ? `(${value(r, m)} + bias[uniforms.start + row + ${r}u])` : value(r, m));
    const scaled = scale === 1 ? sum(j) : `${sum(j)} * f32(${scale})`;
    if (pair === 2) return `${at} = activation(${sum(2 * j)}) * ${sum(2 * j + 1)};`;
    if (epilogue === 'gelu' || epilogue === 'exact-gelu') return `${at} = activation(${sum(j)});`;
    if (epilogue === 'add')
      return scale === 1 ? `${at} += ${sum(j)};` : `${at} = fma(${sum(j)}, f32(${scale}), ${at});`;
    return `${at} = ${softCap === null ? scaled : `capped(${scaled})`};`;
  };
  return range(perLane / pair).flatMap((j) => [
    `if (row + ${pair * j}u < uniforms.outputs) {`,
    ...activationRows.map((m) => finish(j, m)),
    '}',
  ]);
};

/**
 * max(x, 0) − |x|·Q(|x|), with Q(a) the chance that a normal variable exceeds a: exp(−a²/2) times a polynomial in
 * 1 / (1 + 0.35·a), fitted to a relative error of 4e-7 up to a = 14.5.
 */
const EXACT_GELU = [
  'fn activation(x: f32) -> f32 {',
  'let a = abs(x);',
  'let t = 1.0 / fma(0.35, a, 1.0);',
  `let p = ${[-2.7131656e-5, 0.14026706, 0.1333788, 0.15587186, -0.01683114, 0.24040587, -0.2019673].reduceRight(
    (rest, coefficient) => `fma(${rest}, t, f32(${coefficient}))`,
    '0.04890212',
  )};`,
  'return fma(-a, exp(-0.5 * a * a) * p, max(x, 0.0));',
  '}',
];

/** What the epilogue calls. GELU by exp and tanh near 0 by its series, because WGSL's tanh may lose its digits there. */
const functions = ({ epilogue, softCap }: MatmulVariant): string[] => {
  const sigmoid = (x: string): string => `fn activation(x: f32) -> f32 { return x / (1.0 + exp(-${x})); }`;
  if (epilogue === 'silu-mul') return [sigmoid('x')];
  if (epilogue === 'exact-gelu') return EXACT_GELU;
  if (epilogue === 'gelu' || epilogue === 'gelu-mul')
    return [sigmoid(`(${2 * Math.sqrt(2 / Math.PI)} * fma(0.044715 * x * x, x, x))`)];
  if (softCap === null) return [];
  return [
    'fn capped(logit: f32) -> f32 {',
    `let x = logit * f32(${1 / softCap});`,
    'let z = x * x;',
    'let series = fma(z, fma(z, fma(z, 62.0 / 2835.0, -17.0 / 315.0), 2.0 / 15.0), -1.0 / 3.0);',
    `return f32(${softCap}) * select(1.0 - 2.0 / (exp(2.0 * x) + 1.0), fma(x * z, series, x), abs(x) < 0.25);`,
    '}',
  ];
};

const halves = (terms: readonly string[]): string =>
  terms.length === 1
    ? `${terms[0]}`
    : `(${halves(terms.slice(0, terms.length / 2))} + ${halves(terms.slice(terms.length / 2))})`;

/**
 * Slices leave their sums in workgroup memory; then each slice finishes some of the activation rows, adding the slices
 * as a tree whose shape depends on `slices` alone. Only indices are kept across the barrier: with the accumulators kept
 * too, lavapipe, which makes coroutines of barriers, compiled for a minute.
 */
const reduce = (variant: MatmulVariant): string[] => {
  const { perLane, rows, slices, workgroup } = variant;
  const lanes = workgroup / slices;
  const partial = (r: number, s: number): string =>
    `partial[(m * ${perLane}u + ${r}u) * ${workgroup}u + ${s * lanes}u + rowLane]`;
  return [
    ...range(rows).flatMap((m) =>
      range(perLane).map((r) => `partial[${(m * perLane + r) * workgroup}u + lane] = a${r}_${m};`),
    ),
    'workgroupBarrier();',
    `for (var m = slice; m < ${rows}u; m += ${slices}u) {`,
    ...range(perLane).map((r) => `let sum${r} = ${halves(range(slices).map((s) => partial(r, s)))};`),
    ...epilogue(variant, ['m'], (r) => `sum${r}`),
    '}',
  ];
};

export const matmulText = (variant: MatmulVariant): string => {
  const { format, groups, rows, bias, input, perLane, slices, workgroup, together } = variant;
  const lanes = workgroup / slices;
  const sums = perLane * rows;
  const bindings = [
    ...range(inputsOf(variant)).map((i) =>
      input === 'constant'
        ? `var<uniform> input${i}: array<array<vec4<f32>, 8>, ${UNIFORM_BYTES / 128}>`
        : `var<storage, read> input${i}: array<array<vec4<f32>, 8>>`,
    ),
    `var<storage, read> weights: array<${format === 'f32' ? 'vec4<f32>' : 'vec4<u32>'}>`,
    'var<storage, read> scales: array<u32>',
    ...(bias ? ['var<storage, read> bias: array<f32>'] : []),
    'var<storage, read_write> output: array<f32>',
    'var<uniform> uniforms: Uniforms',
  ];
  return [
    ...(together ? ['enable subgroups;'] : []),
    'struct Uniforms { outputs: u32, paddedRows: u32, start: u32, outputStride: u32, groups: u32, steps: u32, tiles: u32 }',
    ...bindings.map((binding, i) => `@group(0) @binding(${i}) ${binding};`),
    ...(slices > 1 ? [`var<workgroup> partial: array<f32, ${workgroup * sums}>;`] : []),
    ...functions(variant),
    `@compute @workgroup_size(${workgroup})`,
    'fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32' +
      (together ? ', @builtin(subgroup_invocation_id) laneInSubgroup: u32) {' : ') {'),
    ...(slices > 1 ? [`let rowLane = lane % ${lanes}u;`, `let slice = lane / ${lanes}u;`] : ['let rowLane = lane;']),
    // No lane returns early, because all must reach a barrier and a broadcast: beyond the last row it is read again.
    `let row = (group.x * ${lanes}u + rowLane) * ${perLane}u;`,
    `let source = min(row, uniforms.paddedRows - ${perLane}u);`,
    groups === null ? 'let width = uniforms.groups;' : `const width = ${groups}u;`,
    `let firstRow = group.y * ${rows}u;`,
    `let firstGroup = ${ownRows(variant) ? `(firstRow + laneInSubgroup % ${ROWS_OF_BINDING}u)` : 'firstRow'} * width;`,
    ...range(perLane).flatMap((r) => range(rows).map((m) => `var a${r}_${m} = 0.0;`)),
    `for (var g = ${slices > 1 ? 'slice' : '0u'}; g < uniforms.groups; g += ${slices}u) {`,
    ...multiply(variant),
    '}',
    ...(slices > 1 ? reduce(variant) : epilogue(variant, range(rows), (r, m) => `a${r}_${m}`)),
    '}',
    '',
  ].join('\n');
};
