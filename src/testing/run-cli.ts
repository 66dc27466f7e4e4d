// Runs the real program as people run it, in a process of its own, and keeps its two streams apart.
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

const launcher = resolve(import.meta.dirname, '../cli/outrider.mjs');

/** For tests that load a model in a process of its own: on lavapipe a cold shader cache costs half a minute. */
export const PATIENCE = { timeout: 600_000 };

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
}

export const startCli = (args: readonly string[], cwd?: string): Running => {
  const child = spawn(process.execPath, [launcher, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const finished = new Promise<Finished>((done, fail) => {
    child.on('error', fail);
    child.on('close', (status) => done({ status, stdout, stderr }));
  });
  return { process: child, finished };
};

export const runCli = (...args: string[]): Promise<Finished> => startCli(args).finished;
