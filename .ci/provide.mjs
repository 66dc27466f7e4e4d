// Brings what the tests need and the machine lacks: Chromium, Firefox (whose test is skipped where it cannot be had), and
// Mesa's lavapipe of version 24 or later (older ones Dawn rejects). On Debian and its relatives, as root or with passwordless sudo, it installs the packages; Debian 12 has a
// new enough Mesa only in backports, which are read through package lists of our own, so the machine's sources, lists
// and pins stay as they were. Anywhere else it says what is missing and how to get it.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, findFirefox, onPath, probeAdapter } from './machine.mjs';

const SOURCES = '/etc/apt/sources.list';
const SOURCE_PARTS = '/etc/apt/sources.list.d';
const OLDEST_MESA = 24;

/** `null`: no right to install. @returns {string[] | null} */
const asRoot = () => {
  if (process.getuid?.() === 0) return [];
  return onPath('sudo') && spawnSync('sudo', ['-n', 'true']).status === 0 ? ['sudo', '-n'] : null;
};

/** Every active source file of the machine. @returns {{ name: string, text: string }[]} */
const machineSources = () => {
  const parts = existsSync(SOURCE_PARTS)
    ? readdirSync(SOURCE_PARTS).filter((name) => /\.(list|sources)$/.test(name))
    : [];
  const files = parts.map((name) => ({ name, path: join(SOURCE_PARTS, name) }));
  if (existsSync(SOURCES)) files.push({ name: 'machine.list', path: SOURCES });
  return files.map(({ name, path }) => ({ name, text: readFileSync(path, 'utf8') }));
};

/**
 * The machine's own entry for `codename`, turned into one for its backports, in the file's own format.
 * @param {{ name: string, text: string }} source
 * @param {string} codename
 * @returns {string | null}
 */
export const backportsEntry = ({ name, text }, codename) => {
  if (name.endsWith('.list')) {
    const line = text.split('\n').find((entry) => new RegExp(`^deb\\s.*\\s${codename}\\s`).test(entry));
    return line ? `${line.replace(new RegExp(`\\s${codename}\\s`), ` ${codename}-backports `)}\n` : null;
  }
  const stanza = text
    .split(/\n\s*\n/)
    .find(
      (entry) => /^Types:.*\bdeb\b/m.test(entry) && new RegExp(`^Suites:(.*\\s)?${codename}(\\s|$)`, 'm').test(entry),
    );
  return stanza ? `${stanza.replace(/^Suites:.*$/m, `Suites: ${codename}-backports`)}\n` : null;
};

/** Runs apt with sources and lists in a folder of our own. @param {string[]} sudo */
const privateApt = (sudo) => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-apt-'));
  chmodSync(folder, 0o755); // apt downloads as a user of its own
  for (const name of ['parts', 'lists']) mkdirSync(join(folder, name));
  const sources = machineSources();
  for (const { name, text } of sources) writeFileSync(join(folder, 'parts', name), text);
  const options = [
    ['Dir::Etc::sourcelist', '/dev/null'],
    ['Dir::Etc::sourceparts', join(folder, 'parts')],
    ['Dir::State::lists', join(folder, 'lists')],
    ['Dir::Cache::pkgcache', ''],
    ['Dir::Cache::srcpkgcache', ''],
  ].flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const environment = ['env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C']; // as a command: sudo drops variables
  /** @param {string[]} args */
  const apt = (...args) => {
    const [program = '', ...rest] = [...sudo, ...environment, args[0] ?? '', ...options, ...args.slice(1)];
    return spawnSync(program, rest, { encoding: 'utf8', maxBuffer: 1 << 28 });
  };
  const update = () => {
    const { status, stderr } = apt('apt-get', 'update', '-q');
    if (status !== 0) console.log(`apt-get update failed:\n${stderr}`);
    return status === 0;
  };
  return {
    update,
    /** @param {string} name */
    candidate: (name) => /Candidate: (\S+)/.exec(apt('apt-cache', 'policy', name).stdout)?.[1] ?? '(none)',
    /** Adds the backports of the machine's own mirror; false where there is no entry to derive them from. @param {string} codename */
    addBackports: (codename) => {
      for (const source of sources) {
        const entry = backportsEntry(source, codename);
        if (!entry) continue;
        writeFileSync(join(folder, 'parts', `backports-${source.name}`), entry);
        return update();
      }
      return false;
    },
    /** @param {string[]} args */
    install: (...args) => {
      console.log(`installing ${args.at(-1)} …`);
      const { status, stderr } = apt('apt-get', 'install', '-y', '-q', '--no-install-recommends', ...args);
      if (status !== 0) console.log(`apt-get install ${args.join(' ')} failed:\n${stderr}`);
    },
    close: () => {
      const [program = '', ...args] = [...sudo, 'rm', '-rf', folder];
      spawnSync(program, args);
    },
  };
};

/** @param {{ chromium: boolean, firefox: boolean, lavapipe: boolean }} missing */
const installOnDebian = ({ chromium, firefox, lavapipe }) => {
  const sudo = asRoot();
  if (!onPath('apt-get') || !sudo) return;
  const release = readFileSync('/etc/os-release', 'utf8');
  const codename = /^VERSION_CODENAME=(\S+)/m.exec(release)?.[1] ?? '';
  const apt = privateApt(sudo);
  try {
    apt.update();
    if (chromium) apt.install('chromium');
    if (firefox) apt.install('firefox-esr');
    if (!lavapipe) return;
    const recent = Number.parseInt(apt.candidate('mesa-vulkan-drivers'), 10) >= OLDEST_MESA;
    if (recent) apt.install('mesa-vulkan-drivers');
    else if (apt.addBackports(codename)) apt.install('-t', `${codename}-backports`, 'mesa-vulkan-drivers');
  } finally {
    apt.close();
  }
};

const CHROMIUM_HINT = `Chromium is missing. Debian: apt-get install chromium; other systems: install Chrome or Chromium,
or set CHROMIUM to the path of one (a full browser: chromium-headless-shell has no WebGPU).`;
const LAVAPIPE_HINT = `Dawn finds no Vulkan adapter. Install Mesa's lavapipe, version ${OLDEST_MESA} or later: on Debian 12
mesa-vulkan-drivers from bookworm-backports, on Debian 13 and Ubuntu 24.04 plain mesa-vulkan-drivers, on Fedora
mesa-vulkan-drivers, on Arch vulkan-swrast. Or set VK_DRIVER_FILES to the driver of your GPU.`;

/** Exits with what to install where something is missing and may not be brought. */
export const provide = async () => {
  const missing = { chromium: !findChromium(), firefox: !findFirefox(), lavapipe: !probeAdapter() };
  if (Object.values(missing).includes(true)) installOnDebian(missing);
  const chromium = findChromium();
  const adapter = probeAdapter();
  if (chromium && adapter) {
    console.log(`browser: ${chromium}\nadapter: ${adapter.description || adapter.device} (${adapter.vendor})`);
    return;
  }
  if (!chromium) console.error(CHROMIUM_HINT);
  if (!adapter) console.error(LAVAPIPE_HINT);
  console.log('0 passed, 1 failed');
  process.exit(1);
};
