// Runs a function of a test in Firefox. To drive an installed one, Playwright sends a command that Firefox ESR 153 does
// not know (emulation.setMediaFeaturesOverride), so it is started with a page that runs the function and sends its
// result. Delete this file when Playwright can open a page in Debian's Firefox.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findFirefox, testEnvironment } from '../.ci/machine.mjs';

/** WebGPU on the CPU, and no request of its own. */
const PREFERENCES = {
  'dom.webgpu.enabled': true,
  'gfx.webgpu.ignore-blocklist': true,
  'app.normandy.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
};

type Reported<T> = { readonly value: T } | { readonly error: string };

const stop = async (firefox: ChildProcess): Promise<void> => {
  if (firefox.exitCode !== null || firefox.pid === undefined) return;
  const ended = once(firefox, 'exit');
  process.kill(-firefox.pid, 'SIGKILL'); // with the processes of its tabs
  await ended;
};

/** `page` is the harness, which runs a module that its address names. `work` is sent as text: it sees its argument only. */
export const inFirefox = async <A, T>(page: string, work: (argument: A) => Promise<T>, argument: A): Promise<T> => {
  const profile = mkdtempSync(join(tmpdir(), 'outrider-firefox-'));
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${value});`);
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reported = new Promise<Reported<T>>((resolve, reject) => {
    server.once('request', (request, response) => {
      text(request).then((body) => resolve(JSON.parse(body)), reject);
      response.writeHead(204).end();
    });
  });
  const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
  const code = `
    const report = (result) => fetch('${url}', { method: 'POST', mode: 'no-cors', body: JSON.stringify(result) });
    (${work})(${JSON.stringify(argument)}).then((value) => report({ value }), (error) => report({ error: String(error) }));`;
  const script = `data:text/javascript,${encodeURIComponent(code)}`;
  const env = { ...process.env, ...testEnvironment(), GALLIVM_PERF: 'nopt' }; // it compiles more than it computes
  const firefox = spawn(
    findFirefox() ?? 'firefox',
    ['--headless', '--no-remote', '--profile', profile, `${page}?run=${encodeURIComponent(script)}`],
    { detached: true, stdio: 'ignore', env },
  );
  try {
    const ended = once(firefox, 'exit').then(([code]) => ({ error: `Firefox ended with code ${code}` }));
    const result = await Promise.race([reported, ended]);
    if ('error' in result) throw new Error(result.error);
    return result.value;
  } finally {
    await stop(firefox);
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
};
