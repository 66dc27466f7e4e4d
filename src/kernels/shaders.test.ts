// Holds every kernel's contract against its shader: the WGSL compiles on a real adapter with each tuning, and bindings
// and uniform fields have the wrapper's names, kinds and order. Kernels and structs are found among the exports of
// src/kernels. The files of shaders/include/structs/ are written here: npx vitest run src/kernels/shaders.test.ts -u
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { WgslReflect } from 'wgsl_reflect';
import { expandShader } from '../../.ci/wgsl.mjs';
import type { Access, Word } from '../gpu/kernel.ts';
import { testGpu } from '../testing/device/gpu.ts';

interface Contract {
  readonly name: string;
  readonly wgsl: string;
  readonly bindings: Readonly<Record<string, Access>>;
  readonly uniforms: Readonly<Record<string, Word>>;
  readonly tuning: Readonly<Record<string, number>>;
}

const modules: Record<string, Record<string, unknown>> = import.meta.glob(
  ['./*/*.ts', '!./*/*.test.ts', '!./*/*.reference.ts'],
  { eager: true },
);
/** The shaders, with what they include, but for those that are there to be included. */
const entries: Record<string, string> = import.meta.glob(['../../shaders/*/*.wgsl', '!../../shaders/include/*'], {
  eager: true,
  query: '?raw',
  import: 'default',
});
const included = Object.keys(import.meta.glob('../../shaders/include/**/*.wgsl', { query: '?raw' }));

const isKernel = (value: unknown): value is { readonly source: Contract } =>
  typeof value === 'function' && 'source' in value;
const within = (value: unknown): Contract[] => {
  if (isKernel(value)) return [value.source];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(within) : [];
};
const kernels = Object.values(modules).flatMap(within);

interface SharedStruct {
  readonly name: string;
  readonly wgsl: string;
  readonly inner: readonly SharedStruct[];
}

const isStruct = (value: unknown): value is SharedStruct =>
  typeof value === 'object' && value !== null && 'pack' in value && 'wgsl' in value;
const structs = Object.entries(modules).flatMap(([path, module]) =>
  Object.entries(module).flatMap(([name, value]) => (isStruct(value) ? [{ path, name, struct: value }] : [])),
);
const fileOf = ({ name }: SharedStruct): string =>
  `${name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}.wgsl`;

const ADDRESS_SPACE: Readonly<Record<Access, { readonly type: string; readonly access: string }>> = {
  read: { type: 'storage', access: 'read' },
  write: { type: 'storage', access: 'read_write' },
  update: { type: 'storage', access: 'read_write' },
  constant: { type: 'uniform', access: 'read' },
};

/** Every value that an `override` constant may take. One that is missing here fails the test of its kernel. */
const VALUES: Readonly<Record<string, readonly number[]>> = {
  stored: [0, 1, 2],
  branched: [0, 1],
  partly: [0, 1],
  biased: [0, 1],
  positions: [0, 1],
  capped: [0, 1],
  pairVectors: [1, 2, 3],
  format: [0, 1, 2, 3, 4],
  threads: [1, 8, 64, 256],
  variant: [0, 1, 2],
};

/** All combinations of the values of a kernel's constants. */
const tunings = (names: readonly string[]): Record<string, number>[] =>
  names.reduce<Record<string, number>[]>(
    (all, name) => all.flatMap((one) => (VALUES[name] ?? []).map((value) => ({ ...one, [name]: value }))),
    [{}],
  );

test.each(Object.entries(entries))('%s compiles by itself, and a kernel runs it', async (_, text) => {
  const { device } = await testGpu();
  const { messages } = await device.createShaderModule({ code: text }).getCompilationInfo();
  expect(messages.map(({ message, lineNum }) => `${lineNum}: ${message}`)).toEqual([]);
  const run = kernels.some(({ wgsl }) => wgsl === text);
  expect(run, 'no defineKernel in src/kernels runs this shader').toBe(true);
});

test.each(structs)("$struct.name: the shaders' text is that of its declaration", async ({ path, name, struct }) => {
  const source = `// Generated from ${name} in src/kernels/${path.slice(2)}.\n`;
  const header = `${source}// To write it again: npx vitest run src/kernels/shaders.test.ts -u\n`;
  const includes = struct.inner.map((inner) => `#include "${fileOf(inner)}"\n`).join('');
  await expect(header + includes + struct.wgsl).toMatchFileSnapshot(`../../shaders/include/structs/${fileOf(struct)}`);
});

test('every included file belongs to some shader', () => {
  const at = (path: string): string => resolve(import.meta.dirname, path);
  const used = new Set(Object.keys(entries).flatMap((path) => expandShader(at(path)).files));
  expect(included.filter((path) => !used.has(at(path)))).toEqual([]);
});

test.each(kernels)('$name: the shader has the bindings and the uniforms of its wrapper', (kernel) => {
  const shader = new WgslReflect(kernel.wgsl);
  const uniforms = Object.entries(kernel.uniforms);
  const expected = Object.entries(kernel.bindings).map(([name, access]) => ({ name, ...ADDRESS_SPACE[access] }));
  if (uniforms.length > 0) expected.push({ name: 'uniforms', type: 'uniform', access: 'read' });
  const bound = shader.getBindGroups()[0] ?? [];
  expect(
    bound.map(({ name, resourceType, access }) => ({ name, type: resourceType === 0 ? 'uniform' : 'storage', access })),
    'bindings: received are those of the shader, expected those of the wrapper',
  ).toEqual(expected);
  const struct = shader.structs.find(({ name }) => name === 'Uniforms');
  expect(
    struct?.members.map(({ name, type }) => [name, type.name]) ?? [],
    'uniforms: received are those of the shader, expected those of the wrapper',
  ).toEqual(uniforms);
  const overrides = new Set(shader.overrides.map(({ name }) => name));
  const unknown = Object.keys(kernel.tuning).filter((name) => !overrides.has(name));
  expect(unknown, "constants of the wrapper's tuning that the shader does not override").toEqual([]);
});

test.each(kernels)('$name compiles with each tuning', async (kernel) => {
  const gpu = await testGpu();
  const all = tunings(Object.keys(kernel.tuning));
  expect(all, `${kernel.name}: add the values of its constants to VALUES in this file`).not.toEqual([]);
  const compiled = all.map((constants) =>
    gpu.pipeline({
      name: kernel.name,
      wgsl: kernel.wgsl,
      access: Object.values(kernel.bindings),
      words: Object.keys(kernel.uniforms).length,
      constants,
    }),
  );
  expect((await Promise.all(compiled)).map(({ label }) => label)).toEqual(all.map(() => kernel.name));
});
