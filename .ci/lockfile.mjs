// Completes package-lock.json. npm leaves out the optional binaries of platforms that the registry at hand does not carry
// (mirrors often hold one platform's only), and `npm ci` then refuses the file as out of step. Their entries are the
// parent's exact version with the platform that the package's name states; no integrity, since nobody here saw them.
//   node .ci/lockfile.mjs           fails and names what is missing
//   node .ci/lockfile.mjs --write   adds it
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

const path = join(root, 'package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8'));

const OS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const CPU = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x'];

/** `@oxc-parser/binding-linux-x64-musl` → { os: ['linux'], cpu: ['x64'], libc: ['musl'] } @param {string} name */
const platform = (name) => {
  const words = (name.split('/').at(-1) ?? '').split('-');
  const os = OS.filter((value) => words.includes(value));
  const cpu = CPU.filter((value) => words.includes(value));
  const libc = words.some((word) => word.startsWith('musl')) ? ['musl'] : words.includes('gnu') ? ['glibc'] : [];
  return { ...(os.length && { os }), ...(cpu.length && { cpu }), ...(libc.length && { libc }) };
};

/** @type {string[]} */
const missing = [];
for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    const limits = platform(name);
    if (key in lock.packages || !/^\d/.test(String(version)) || !(limits.os || limits.cpu)) continue;
    missing.push(`${name}@${version}`);
    lock.packages[key] = { version, ...limits, ...(parent.dev && { dev: true }), optional: true };
  }
}

// What is installed is checked against its digest. A binary of another platform has one only where the registry that
// the file was made with carries it; where it does not, an earlier version of its tool is taken.
const unchecked = Object.entries(lock.packages)
  .filter(([name, { integrity, link }]) => name && !integrity && !link)
  .map(([name]) => name);
if (unchecked.length > 0) {
  console.error(`package-lock.json has no integrity for ${unchecked.join(', ')}`);
  process.exitCode = 1;
}

if (missing.length > 0 && process.argv.includes('--write')) {
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
  console.log(`added ${missing.length} entries`);
} else if (missing.length > 0) {
  console.error(`package-lock.json lacks ${missing.join(', ')}\nnode .ci/lockfile.mjs --write`);
  process.exitCode = 1;
}
