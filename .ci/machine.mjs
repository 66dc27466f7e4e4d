// What the tests need from the machine: a Chromium with WebGPU, and Mesa's lavapipe (Vulkan on the CPU) for Dawn. This
// file only looks; `provide.mjs` brings what is missing. vite.config.ts and the Playwright config read it too, so a
// single test file runs with the same adapter as the whole suite.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

/** @param {string} name */
export const onPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

/** Full browsers only: `chromium-headless-shell`, which Playwright prefers, has no WebGPU. */
export const findChromium = () =>
  [
    process.env.CHROMIUM,
    ...['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'].map(onPath),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ].find((path) => path && existsSync(path));

/** Debian's, or the one that FIREFOX names: others may be shut in a box that has neither lavapipe nor our profile. */
export const findFirefox = () => [process.env.FIREFOX, onPath('firefox-esr')].find((path) => path && existsSync(path));

const ICD_FOLDERS = ['/usr/share/vulkan/icd.d', '/usr/local/share/vulkan/icd.d', '/etc/vulkan/icd.d'];

/** The manifest that makes the Vulkan loader pick lavapipe; its name carries the architecture on some distributions. */
export const findLavapipe = () =>
  ICD_FOLDERS.filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .find((path) => /\/lvp_icd[^/]*\.json$/.test(path));

/**
 * Environment for every test: lavapipe and nothing else, because a test that silently ran on another adapter proves
 * nothing. Variables that are already set win, so that the suite can be pointed at a real GPU.
 * @returns {Record<string, string>}
 */
export const testEnvironment = () => {
  const manifest = process.platform === 'linux' ? findLavapipe() : undefined;
  return {
    XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
    // Our dispatches are small: lavapipe's threads spend more time on each other than on them (docs/log.md). Test files
    // run at the same time instead.
    LP_NUM_THREADS: process.env.LP_NUM_THREADS ?? '0',
    ...(manifest && {
      VK_DRIVER_FILES: process.env.VK_DRIVER_FILES ?? manifest,
      VK_ICD_FILENAMES: process.env.VK_ICD_FILENAMES ?? process.env.VK_DRIVER_FILES ?? manifest,
    }),
  };
};

const PROBE = `
  import('webgpu').then(async ({ create }) => {
    globalThis.instance = create([]);
    const adapter = await globalThis.instance.requestAdapter();
    const { vendor, architecture, device, description } = adapter?.info ?? {};
    console.log(JSON.stringify(adapter ? { vendor, architecture, device, description } : null));
    process.exit(0);
  });`;

/**
 * Asks Dawn, in a process of its own, which adapter it would use. Null: none (Dawn rejects lavapipe older than 24).
 * @returns {{ vendor: string, architecture: string, device: string, description: string } | null}
 */
export const probeAdapter = () => {
  const env = { ...process.env, ...testEnvironment() };
  const { stdout } = spawnSync(process.execPath, ['-e', PROBE], { cwd: root, env, encoding: 'utf8', timeout: 60_000 });
  const line = (stdout ?? '').trim().split('\n').at(-1);
  return line?.startsWith('{') ? JSON.parse(line) : null;
};

/** The first Python that can import all of `modules`, the training environment's own before the system's.
 * @param {string[]} modules */
export const findPython = (...modules) =>
  [join(root, 'training/.venv/bin/python'), 'python3', 'python'].find(
    (python) => spawnSync(python, ['-c', modules.map((name) => `import ${name}`).join(';')]).status === 0,
  );
