// A real llama.cpp server: `python -m llama_cpp.server`, from a Python that has it
//   pip install 'llama-cpp-python[server]==0.3.16' safetensors     (compiles for minutes: no wheels are published)
// named by LLAMA_PYTHON, in training/.venv, or on the path. Without one, tests that need it skip loudly.
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { resolve } from 'node:path';

const training = resolve(import.meta.dirname, '../../../training');

const python = [process.env.LLAMA_PYTHON, resolve(training, '.venv/bin/python'), 'python3'].find(
  (name) => name && spawnSync(name, ['-c', 'import llama_cpp.server, safetensors']).status === 0,
);

if (!python) console.warn('\n*** llama-cpp-python[server] is absent: tests against a real llama.cpp are SKIPPED ***\n');

/** For `describe.skipIf(noLlama)`. */
export const noLlama = python === undefined;

/** A bundled model as GGUF. */
export const exportGguf = (name: string, file: string): void => {
  const args = ['-m', 'bundled.gguf', `../public/models/${name}`, file];
  const { status, stderr } = spawnSync(python as string, args, { cwd: training, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the export to GGUF failed: ${stderr}`);
};

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address ? address.port : 0));
    });
  });

export interface LlamaServer extends AsyncDisposable {
  readonly address: string;
}

/** `more`: options of the server's own; log-probabilities need `logits_all`. */
export const serveLlama = async (
  gguf: string,
  key: string,
  more: Readonly<Record<string, string>> = {},
): Promise<LlamaServer> => {
  const port = await freePort();
  const server = { model: gguf, model_alias: 'llama', port: `${port}`, api_key: key };
  // One thread: where others take the cores, its two wait for each other in a loop, 38 s for five tokens.
  const options = { ...server, n_ctx: '1024', n_threads: '1', n_threads_batch: '1', ...more };
  const args = ['-m', 'llama_cpp.server', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])];
  const child = spawn(python as string, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((done) => child.on('exit', done));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4000);
  });
  const address = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    const headers = { Authorization: `Bearer ${key}` };
    const there = await fetch(`${address}/v1/models`, { headers }).catch(() => null);
    if (there?.ok) break;
    if (child.exitCode !== null || tries === 300) throw new Error(`llama.cpp did not start:\n${log}`);
    await new Promise((done) => setTimeout(done, 200));
  }
  return {
    address,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
};
