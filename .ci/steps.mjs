// Runs commands, prints one line for each, and the whole output of those that failed.
import { spawn } from 'node:child_process';
import { availableParallelism, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { testEnvironment } from './machine.mjs';

export const root = resolve(import.meta.dirname, '..');
/** @param {string} name */
export const tool = (name) => join(root, 'node_modules/.bin', name);

/**
 * @param {string[]} command
 * @param {{ live?: boolean, env?: Record<string, string>, nice?: number }} [options] `live` shows the output while it
 * runs; `nice`, from 0 to 19, lets others go first.
 * @returns {Promise<{ code: number, output: string }>}
 */
export const run = ([program = '', ...args], { live = false, env = {}, nice = 0 } = {}) =>
  new Promise((done) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...testEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (nice > 0 && child.pid) setPriority(child.pid, nice);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
        if (live) process.stdout.write(chunk);
      });
    child.on('error', (error) => done({ code: 127, output: `${output}${error.message}\n` }));
    child.on('close', (code) => done({ code: code ?? 1, output }));
  });

/** @typedef {{ name: string, command: string[] }} Step */

/**
 * As many chains at once as there are cores; the steps of a chain one after another.
 * @param {Step[][]} chains
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export const runSteps = async (chains) => {
  const tally = { passed: 0, failed: 0 };
  const runStep = async (/** @type {Step} */ { name, command }) => {
    const start = performance.now();
    const { code, output } = await run(command, { env: { NO_COLOR: '1' } });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'}  ${name} (${seconds} s)`);
    if (code !== 0) console.log(output.trimEnd().replace(/^/gm, '      '));
    tally[code === 0 ? 'passed' : 'failed']++;
  };
  const waiting = [...chains];
  const work = async () => {
    for (let chain = waiting.shift(); chain; chain = waiting.shift()) for (const step of chain) await runStep(step);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return tally;
};

/** Skipping is never silent. @param {string} what @param {string} why */
export const skip = (what, why) => console.log(`\n*** SKIPPED: ${what}: ${why} ***\n`);
