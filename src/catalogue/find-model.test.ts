import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toFault } from '../base/errors.ts';
import { findModel, repositoryOf } from './find-model.ts';

let server: Server;
let hub: string;
let body: string;
let status: number;
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const answers = (value: unknown, code = 200): void => {
  body = typeof value === 'string' ? value : JSON.stringify(value);
  status = code;
};
const files = (sizes: Readonly<Record<string, unknown>>, rest: object = {}): void =>
  answers({ siblings: Object.entries(sizes).map(([rfilename, size]) => ({ rfilename, size })), ...rest });
const fault = async (name = 'a/b'): Promise<string> => {
  try {
    await findModel(name, { hub });
  } catch (error) {
    const { code, message } = toFault(error);
    return `${code}: ${message}`;
  }
  throw new Error('it was found');
};

test('a name, or the address of a page, is a repository; a file’s address is not', () => {
  expect(repositoryOf(' Qwen/Qwen3-0.6B-GGUF ')).toBe('Qwen/Qwen3-0.6B-GGUF');
  for (const page of ['', '/', '/tree/main', '/tree/main/', '?library=x', '#files'])
    expect(repositoryOf(`https://huggingface.co/Qwen/Qwen3-0.6B${page}`)).toBe('Qwen/Qwen3-0.6B');
  for (const other of [
    'https://huggingface.co/Qwen/Qwen3-0.6B/resolve/main/a.gguf',
    'https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/a.gguf',
    'https://huggingface.co.evil.org/Qwen/Qwen3-0.6B',
    'https://evil.org/Qwen/Qwen3-0.6B',
    'models/a.gguf',
    '../../etc',
    'a/../b',
    'a/b/c',
    'target',
    '',
  ])
    expect(repositoryOf(other), other).toBeNull();
});

describe('the list of files', () => {
  test('a file of 4 bits is chosen, with its size, the reason, the licence and the others', async () => {
    files(
      { 'm-Q8_0.gguf': 80, 'm-Q4_K_M.gguf': 40, 'mmproj-F16.gguf': 9, 'm-Q2_K.gguf': 20, 'README.md': 5 },
      { cardData: { license: 'apache-2.0' }, gated: false },
    );
    const found = await findModel('owner/m-GGUF', { hub });
    expect(asked.at(-1)).toBe('/api/models/owner/m-GGUF?blobs=true');
    expect(found).toEqual({
      address: `${hub}/owner/m-GGUF/resolve/main/m-Q4_K_M.gguf`,
      file: 'm-Q4_K_M.gguf',
      bytes: 40,
      why: 'Q4_K_M keeps most of the quality in a third of the size',
      licence: 'apache-2.0',
      gated: false,
      others: ['m-Q2_K.gguf', 'm-Q8_0.gguf'].map((file, i) => ({
        file,
        address: `${hub}/owner/m-GGUF/resolve/main/${file}`,
        bytes: [20, 80][i],
      })),
    });
  });

  test('of a split file the first part stands for all; one that lacks a part is left out', async () => {
    files({
      'big-Q4_K_M-00001-of-00002.gguf': 30,
      'big-Q4_K_M-00002-of-00002.gguf': 31,
      'big-Q4_0-00001-of-00003.gguf': 1,
      'big-Q4_0-00003-of-00003.gguf': 1,
    });
    expect(await findModel('o/big', { hub })).toMatchObject({
      file: 'big-Q4_K_M-00001-of-00002.gguf',
      bytes: 61,
      why: 'it is the only GGUF file',
      others: [],
    });
  });

  test('without a GGUF file the folder is taken; a gated one says so', async () => {
    files({ 'config.json': 1, 'model.safetensors': 200, 'consolidated.safetensors': 200 }, { gated: 'manual' });
    expect(await findModel('o/m', { hub })).toMatchObject({
      address: `${hub}/o/m/resolve/main/`,
      file: 'o/m',
      bytes: 200,
      licence: null,
      gated: true,
    });
  });
});

describe('a hostile or broken answer', () => {
  test('names with folders, wrong sizes and other types are left out', async () => {
    answers({
      siblings: [
        { rfilename: '../../x-Q4_K_M.gguf', size: 1 },
        { rfilename: 'a/b-Q4_K_M.gguf', size: 1 },
        { rfilename: 'n-Q4_K_M.gguf', size: -1 },
        { rfilename: 'o-Q4_K_M.gguf', size: 1e300 },
        { rfilename: '<img src=x>-Q4_K_M.gguf', size: 1 },
        { rfilename: 'x-00001-of-99999.gguf', size: 1 },
        { rfilename: 7, size: 1 },
        null,
        'p-Q4_K_M.gguf',
        { rfilename: 'good-Q8_0.gguf', size: 5 },
      ],
      cardData: { license: '<script>alert(1)</script>' },
    });
    expect(await findModel('o/m', { hub })).toMatchObject({ file: 'good-Q8_0.gguf', licence: null, others: [] });
  });

  test.each([
    ['no list', { siblings: 'all' }, 'download-failed: the list of a/b: it names no files'],
    ['an array', [], 'download-failed: the list of a/b: it is not an object'],
    ['text', 'hello', 'download-failed: the list of a/b: it is not JSON'],
    ['no model', { siblings: [{ rfilename: 'x.txt', size: 1 }] }, 'bad-checkpoint: a/b holds no model'],
    ['too many', { siblings: Array(10_001).fill({}) }, 'download-failed: the list of a/b: it names 10001 files'],
  ])('%s is refused', async (_, value, message) => {
    answers(value);
    expect(await fault()).toContain(message);
  });

  test('a list without end, a refusal, and a server that is not there', async () => {
    answers(`"${'x'.repeat(9 * 2 ** 20)}"`);
    expect(await fault()).toBe('download-failed: the list of a/b: it is too long');
    answers('{}', 401);
    expect(await fault()).toBe('bad-request: there is no public model a/b');
    answers('{}', 500);
    expect(await fault()).toBe('download-failed: the list of a/b: the server answers 500');
    expect(await fault('no name')).toContain('bad-request: no name is not the name of a model');
    await expect(findModel('a/b', { hub: 'http://127.0.0.1:9' })).rejects.toThrow('cannot be fetched');
  });
});
