// Sources that JavaScript may hand over: what is wrong with one is said before anything is freed for it.
import { describe, expect, it } from 'vitest';
import { remote, remoteJudge } from '../remote/server.ts';
import { checkLoad, checkPreflight } from './check-load.ts';

const file = new File(['{}'], 'config.json');

describe('a source', () => {
  it.each([
    [{ target: {} }, 'target: a source of the kind undefined cannot be loaded'],
    [{ target: { kind: 'nope' } }, 'target: a source of the kind "nope" cannot be loaded'],
    [{ target: { kind: 'toString' } }, 'target: a source of the kind "toString" cannot be loaded'],
    [{ target: { kind: 5 } }, 'target: a source of the kind 5 cannot be loaded'],
    [{ target: remote('https://a.test', 'big') }, 'target: a source of the kind "remote" cannot be loaded'],
    [{ remote: { kind: 'url', url: 'https://a.test' } }, 'remote: a source of the kind "url" cannot be loaded'],
    [{ target: { kind: 'url' } }, 'target: a source of the kind url needs url, an address, not undefined'],
    [{ draft: { kind: 'files' } }, 'draft: a source of the kind files needs files, a list of files, not undefined'],
    [{ draft: { kind: 'files', files: [null] } }, 'needs files, a list of files, not [null]'],
    [{ prm: { kind: 'bytes', files: {} } }, 'needs files, a Map of names and Uint8Arrays, not {}'],
    [{ prm: { kind: 'bytes', files: new Map([['a', 'b']]) } }, 'needs files, a Map of names and Uint8Arrays'],
    [{ target: 'tagret' }, 'there is no bundled model "tagret"'],
    [{ remote: { kind: 'remote', address: 'localhost', model: 'big' } }, "the remote's address is not a URL"],
    [{ prm: { kind: 'remote-judge', address: 'ftp://a.test', model: 'prm' } }, 'is neither http nor https'],
    [{ dflash: { kind: 'folder', files: null } }, 'needs files, an open set of files, not null'],
    [{ target: 'target', 'also-2': 'mid' }, 'also-2: there is no also-1'],
    [{ target: 'target', 'also-1': 'mid', 'also-3': 'mid' }, 'also-1, also-3: there is no also-2'],
  ])('%j is refused', (sources, message) => {
    expect(() => checkLoad(sources, {})).toThrow(
      expect.objectContaining({ code: 'bad-request', message: expect.stringContaining(message) }),
    );
  });

  it('of every kind is let through, and so are loaded models and those on other machines', () => {
    const files = new Map([['config.json', new Uint8Array(2)]]);
    for (const target of [
      'target',
      undefined,
      { kind: 'url', url: 'https://a.test/' },
      { kind: 'url', url: new URL('https://a.test/') },
      { kind: 'files', files: [file] },
      { kind: 'files', files: new Set([file]) }, // like an input's FileList, which is no array either
      { kind: 'bytes', files },
      { kind: 'folder', files: { open: () => null } },
      { name: 'mine', model: {} },
    ])
      checkLoad({ target }, {});
    checkLoad({ remote: remote('https://a.test', 'big'), prm: remoteJudge('https://a.test', 'prm') }, {});
    checkLoad({ remote: { name: 'mine', open: () => {} } }, {});
  });
});

describe('options', () => {
  it.each([
    [{ kv: 'f16' }, 'there is no option "kv"'], // what the command line calls `cache`
    [{ precison: 'q4' }, 'there is no option "precison"'],
    [{ tokens: 512 }, 'there is no option "tokens"'], // of preflight
    [{ cache: 'q4' }, 'cache must be one of f32, f16, q8, not "q4"'],
    [{ precision: { target: 'q5' } }, 'precision.target must be one of f32, f16, q8, q4, not "q5"'],
    [{ precision: { judge: 'q4' } }, 'there is no role "judge"'],
    [{ onnx: 'webgl' }, 'onnx must be one of wasm, webgpu, not "webgl"'],
    [{ vocabularies: 'Own' }, 'vocabularies must be one of shared, own, not "Own"'],
    ['q4', 'the options must be an object, not "q4"'],
  ])('%j are refused', (options, message) => {
    expect(() => checkLoad({}, options)).toThrow(
      expect.objectContaining({ code: 'bad-request', message: expect.stringContaining(message) }),
    );
  });

  it('that a load and a preflight have are let through', () => {
    const { signal } = new AbortController();
    checkLoad({}, { precision: 'q4', cache: 'q8', onnx: 'wasm', vocabularies: 'own', onProgress() {}, signal });
    checkPreflight({}, { precision: { target: 'q4' }, cache: 'q8', tokens: 512, memory: 2 ** 30, signal });
    expect(() => checkPreflight({}, { onnx: 'wasm' })).toThrow('there is no option "onnx"');
  });
});
