// Runs commands one after another, prints one line for each, and the whole output of those that failed.
import { spawn } from 'node:child_process';
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

/**
 * @param {{ name: string, command: string[] }[]} steps
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export const runSteps = async (steps) => {
  const tally = { passed: 0, failed: 0 };
  for (const { name, command } of steps) {
    const start = performance.now();
    const { code, output } = await run(command, { env: { NO_COLOR: '1' } });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'}  ${name} (${seconds} s)`);
    if (code !== 0) console.log(output.trimEnd().replace(/^/gm, '      '));
    tally[code === 0 ? 'passed' : 'failed']++;
  }
  return tally;
};

/** Skipping is never silent. @param {string} what @param {string} why */
export const skip = (what, why) => console.log(`\n*** SKIPPED: ${what}: ${why} ***\n`);
