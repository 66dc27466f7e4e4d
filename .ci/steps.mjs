// Runs commands, prints one line for each, and the whole output of those that failed.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { testEnvironment } from './machine.mjs';

export const root = resolve(import.meta.dirname, '..');
/** @param {string} name */
export const tool = (name) => join(root, 'node_modules/.bin', name);

/**
 * @param {string[]} command
 * @param {{ live?: boolean, env?: Record<string, string> }} [options] `live` shows the output while it runs.
 * @returns {Promise<{ code: number, output: string }>}
 */
export const run = ([program = '', ...args], { live = false, env = {} } = {}) =>
  new Promise((done) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...testEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
 * @returns {Promise<{ passed: number, failed: number, failures: string[] }>}
 */
export const runSteps = async (chains) => {
  const tally = { passed: 0, failed: 0, failures: /** @type {string[]} */ ([]) };
  const runStep = async (/** @type {Step} */ { name, command }) => {
    const start = performance.now();
    const { code, output } = await run(command, { env: { NO_COLOR: '1' } });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'}  ${name} (${seconds} s)`);
    tally[code === 0 ? 'passed' : 'failed']++;
    if (code === 0) return;
    console.log(output.trimEnd().replace(/^/gm, '      '));
    tally.failures.push(`${name}\n${output.trim().slice(-2000)}`);
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
