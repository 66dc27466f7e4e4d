// Runs the real program as people run it, in a process of its own, and keeps its two streams apart. Commands that end
// before a device is opened may share a process.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
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

/** The next message of the host. */
const answerOf = async (host: ChildProcess) => {
  const over = new AbortController();
  const { signal } = over;
  const gone = once(host, 'exit', { signal }).then(([status]) => Promise.reject(new Error(`cli-host: exit ${status}`)));
  const [message] = await Promise.race([once(host, 'message', { signal }), gone]);
  over.abort();
  return message;
};

const startHost = async (): Promise<ChildProcess> => {
  const host = fork(resolve(import.meta.dirname, 'cli-host.mjs'), ['--help'], { execArgv: [], silent: true });
  await answerOf(host); // it is ready
  return host;
};

let host: Promise<ChildProcess> | null = null;

/**
 * The same in a process that all such commands of a test file share: starting one takes a quarter of a second, and
 * refusing arguments a few milliseconds. That a process ends by itself is seen where each has its own.
 */
export const callCli = async (...args: string[]): Promise<Finished> => {
  host ??= startHost();
  const child = await host;
  child.send({ args, env: process.env });
  return answerOf(child);
};
