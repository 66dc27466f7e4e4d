// Models that the command line has downloaded: kept, listed, used again, and deleted.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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

it('keeps, lists and deletes what was downloaded by address', async () => {
  expect(await runCli('store', '--json')).toMatchObject({ status: 0, stdout: '[]\n' });
  expect(readdirSync(scratch)).toEqual([]); // a look makes no folder
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
