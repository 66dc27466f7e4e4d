// Models that the command line has downloaded: kept, listed, used again, and deleted.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runCli } from '../../testing/run-cli.ts';
import { serveFiles } from '../../testing/servers/file-server.ts';

const draft = join(import.meta.dirname, '../../../public/models/draft');
const names = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
const server = await serveFiles(
  Object.fromEntries(names.map((name) => [`my/${name}`, new Uint8Array(readFileSync(join(draft, name)))])),
);
const scratch = mkdtempSync(join(tmpdir(), 'outrider-cli-store-'));
const before = process.env.OUTRIDER_STORE;
process.env.OUTRIDER_STORE = join(scratch, 'store');
afterAll(async () => {
  if (before === undefined) delete process.env.OUTRIDER_STORE;
  else process.env.OUTRIDER_STORE = before;
  await server[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});

it('says what is wrong with a store that is no folder', async () => {
  const folder = process.env.OUTRIDER_STORE;
  process.env.OUTRIDER_STORE = join(draft, 'config.json');
  const { status, stdout, stderr } = await runCli('store', '--json');
  process.env.OUTRIDER_STORE = folder;
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  const { error } = JSON.parse(stderr);
  expect(error).toMatchObject({ code: 'bad-request', hint: 'OUTRIDER_STORE names another one.' });
  expect(error.message).toContain('config.json: ENOTDIR');
});

it('makes no folder for a look', async () => {
  expect(await runCli('store', '--json')).toMatchObject({ status: 0, stdout: '[]\n' });
  expect(readdirSync(scratch)).toEqual([]);
});

it('goes on without a folder that cannot be made', async () => {
  const folder = process.env.OUTRIDER_STORE;
  process.env.OUTRIDER_STORE = '/proc/nope/inside';
  const { status, stderr } = await runCli('tokenize', '--model', `${server.address}my/`, '--text', 'a');
  process.env.OUTRIDER_STORE = folder;
  expect(status).toBe(0);
  expect(stderr).toContain('warning: Storing failed');
});

it('uses a whole copy when the server fails, and says how to delete one that does not load', async () => {
  const address = `${server.address}own/`;
  for (const name of names) server.files.set(`own/${name}`, new Uint8Array(readFileSync(join(draft, name))));
  const tokenize = ['tokenize', '--model', address, '--text', 'Ida'];
  const first = await runCli(...tokenize);
  server.behave({ status: 500 });
  const again = await runCli(...tokenize);
  server.behave();
  const name = `${new URL(server.address).host}/own`;
  expect(again).toMatchObject({ status: 0, stdout: first.stdout });
  expect(again.stderr).toContain(`the server answers 500. Stored copies are used`);
  expect(again.stderr).toContain(`not known: ${name}.\n`);
  await runCli('store', 'delete', name);

  const tokenizer = readFileSync(join(draft, 'tokenizer.json'), 'latin1');
  server.files.set('own/tokenizer.json', Buffer.from(tokenizer.replace('{', '}'), 'latin1'));
  expect(await runCli(...tokenize)).toMatchObject({ status: 1, stdout: '' });
  server.files.set('own/tokenizer.json', Buffer.from(tokenizer, 'latin1'));
  const { status, stderr } = await runCli(...tokenize);
  expect(status).toBe(1);
  expect(stderr).toContain(`Delete it: outrider store delete ${name}, then load it again.`);
  await runCli('store', 'delete', name);
  expect(await runCli(...tokenize)).toMatchObject({ status: 0, stdout: first.stdout });
  await runCli('store', 'delete', name);
});

it('does not keep a file that has not the SHA-256 in the header of a redirect', async () => {
  const sent = readFileSync(join(draft, 'tokenizer.json'));
  server.files.set('linked/tokenizer.json', sent);
  let stated = createHash('sha256').update('another').digest('hex');
  const hub = createServer((request, response) => {
    const headers = { location: server.address + request.url?.slice(1), 'x-linked-etag': `"${stated}"` };
    response.writeHead(302, headers).end();
  });
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(hub.address() as AddressInfo).port}/linked/`;
  const tokenize = ['tokenize', '--model', address, '--text', 'a', '--json'];
  const refused = await runCli(...tokenize);
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  const { error } = JSON.parse(refused.stderr);
  expect(error).toMatchObject({ code: 'download-failed', message: expect.stringContaining('has not the SHA-256') });
  expect((await runCli('store', '--json')).stdout).toBe('[]\n');
  stated = createHash('sha256').update(sent).digest('hex');
  expect(await runCli(...tokenize)).toMatchObject({ status: 0 });
  const [{ name }] = JSON.parse((await runCli('store', '--json')).stdout);
  await runCli('store', 'delete', name);
  hub.close();
});

it('keeps, lists and deletes what was downloaded by address', async () => {
  const tokenize = ['tokenize', '--model', `${server.address}my/`, '--text', 'Ida has 54 stones.', '--json'];
  const first = await runCli(...tokenize);
  expect(first.status).toBe(0);
  // The server names the same version, so what it would send now is not looked at.
  server.files.set('my/tokenizer.json', new Uint8Array(readFileSync(join(draft, 'tokenizer.json')).length));
  expect((await runCli(...tokenize)).stdout).toBe(first.stdout);

  const [model, ...others] = JSON.parse((await runCli('store', '--json')).stdout);
  expect(others).toEqual([]);
  const name = `${new URL(server.address).host}/my`;
  expect(model).toMatchObject({ name, address: `${server.address}my`, complete: true });
  expect(model.bytes).toBeGreaterThan(20_000);
  const listed = await runCli('store');
  expect(listed.stdout).toContain(name);
  expect(listed.stderr).toContain(join(scratch, 'store'));
  expect((await runCli('store', '--help')).stdout).toContain(join(scratch, 'store'));

  const wrong = await runCli('store', 'delete', 'mine', '--json');
  expect(wrong).toMatchObject({ status: 2, stdout: '' });
  expect(JSON.parse(wrong.stderr).error).toMatchObject({ code: 'bad-request', hint: `There are: ${name}.` });
  expect(await runCli('store', 'drop', name)).toMatchObject({ status: 2 });
  const deleted = await runCli('store', 'delete', name, '--json');
  expect(JSON.parse(deleted.stdout)).toEqual({ deleted: name, bytes: model.bytes });
  expect((await runCli('store', '--json')).stdout).toBe('[]\n');
});
