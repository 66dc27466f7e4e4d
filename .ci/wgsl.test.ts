import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { asCode, expandShader, shaderModule } from './wgsl.mjs';

const folder = mkdtempSync(join(tmpdir(), 'outrider-wgsl-'));
afterAll(() => rmSync(folder, { recursive: true }));

const put = (name: string, ...lines: string[]): string => {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
};

test('each included file comes once, where it is first named, its own includes before it', () => {
  const row = put('row.wgsl', 'struct Row { token: u32 }');
  const seen = put('seen.wgsl', '#include "row.wgsl"', 'fn seen() {}');
  const main = put('main.wgsl', 'enable f16;', '#include "seen.wgsl"', '#include "row.wgsl"', 'fn main() {}');
  expect(expandShader(main)).toMatchObject({
    text: 'enable f16;\nstruct Row { token: u32 }\nfn seen() {}\nfn main() {}\n',
    files: [main, seen, row],
  });
});

test('a cycle, a file that is not there and a line that is no include are refused by file and line', () => {
  put('a.wgsl', 'fn a() {}', '#include "b.wgsl"');
  const b = put('b.wgsl', '#include "a.wgsl"');
  expect(() => expandShader(b)).toThrow(/a\.wgsl:2: the includes form a cycle: .*b\.wgsl → .*a\.wgsl → .*b\.wgsl$/);
  const self = put('self.wgsl', '#include "self.wgsl"');
  expect(() => expandShader(self)).toThrow(/self\.wgsl:1: the includes form a cycle/);
  const lost = put('lost.wgsl', '#include "nothing.wgsl"');
  expect(() => expandShader(lost)).toThrow(/lost\.wgsl:1: there is no .*nothing\.wgsl$/);
  const other = put('other.wgsl', '', '#include <row.wgsl>');
  expect(() => expandShader(other)).toThrow(/other\.wgsl:2: "#include <row\.wgsl>" is no include/);
});

test('a build has an included text once, and its parts make the same code', () => {
  const row = put('row.wgsl', 'struct Row { token: u32 } // comment');
  const main = put('main.wgsl', '  enable f16;', '#include "row.wgsl"', 'fn main() {}');
  const { text, parts } = expandShader(main);
  const codes = parts.map((part) => asCode(part.text));
  expect(codes.join('\n')).toBe(asCode(text));
  expect(shaderModule(main)).toBe(
    `import f0 from ${JSON.stringify(`${row}?parts`)};\nexport default ["enable f16;", f0[0], "fn main() {}"].join('\\n')`,
  );
});
