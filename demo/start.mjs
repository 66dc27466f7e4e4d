// `npm start`: builds the page, serves it, prints its address, and opens it where there is a screen. `--software` opens
// a Chromium that runs WebGPU on the CPU, for machines without a GPU. dist/demo is plain files: any static host serves
// it.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, preview } from 'vite';
import { findChromium, onPath } from '../.ci/machine.mjs';

const SOFTWARE_FLAGS = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
const HELP = `npm start [-- OPTIONS]
  --software    open a Chromium that runs WebGPU on the CPU
  --port N      serve on port N (default 4173, or the next that is free)
  --no-open     only serve`;

/** @param {string} wrong @returns {never} */
const refuse = (wrong) => {
  console.error(`${wrong}\n${HELP}`);
  process.exit(2);
};

const read = () => {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  const port = /** @type {const} */ ({ type: 'string', default: '4173' });
  try {
    return parseArgs({ options: { software: flag, port, 'no-open': flag, help: flag } }).values;
  } catch (error) {
    return refuse(/** @type {Error} */ (error).message);
  }
};
const options = read();
if (options.help) {
  console.log(HELP);
  process.exit(0);
}
const { software } = options;
if (!/^\d{1,5}$/.test(options.port) || Number(options.port) > 65535) refuse(`--port ${options.port} is no port`);
const port = Number(options.port);

/** A Linux machine with a GPU has a render node that is not a virtual display's. */
const hasGpu =
  process.platform !== 'linux' ||
  (existsSync('/dev/dri') && readdirSync('/dev/dri').some((name) => name.startsWith('renderD')));
const hasScreen = process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);

/** @param {string} url */
const openBrowser = (url) => {
  const opener = { darwin: 'open', win32: 'explorer' }[process.platform.toString()] ?? 'xdg-open';
  if (process.platform === 'linux' && !onPath(opener)) return;
  spawn(opener, [url], { stdio: 'ignore', detached: true }).on('error', () => {});
};

/** A profile of its own: flags do not reach a browser that is already running. @param {string} url */
const openSoftware = (url) => {
  const chromium = findChromium();
  if (!chromium) return console.error('No Chromium found: install one, or set CHROMIUM to its path.');
  if (!hasScreen)
    return console.log(`No screen here. On a machine with one:\n  chromium ${SOFTWARE_FLAGS.join(' ')} ${url}`);
  const profile = mkdtempSync(join(tmpdir(), 'outrider-chromium-'));
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawn(chromium, [...SOFTWARE_FLAGS, ...root, '--no-first-run', `--user-data-dir=${profile}`, url], {
    stdio: 'ignore',
  });
  process.on('exit', () => {
    child.kill();
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  });
};

const configFile = resolve(import.meta.dirname, '../vite.config.ts');
console.log('Building the page …');
await build({ configFile, logLevel: 'error' }); // a bundler's warnings mean nothing to who starts the page
const server = await preview({ configFile, preview: { port } });
const url = server.resolvedUrls?.local[0] ?? `http://localhost:${port}/`;
console.log(`\nOutrider is at ${url}   (Ctrl+C ends it)`);
if (!hasGpu && !software)
  console.log(`\nThis machine seems to have no GPU. Chromium can run WebGPU on the CPU, slowly:
  npm start -- --software
or start it yourself with
  chromium ${SOFTWARE_FLAGS.join(' ')} ${url}`);
if (software) openSoftware(url);
else if (hasScreen && !options['no-open']) openBrowser(url);

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
