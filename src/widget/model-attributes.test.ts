import { describe, expect, it } from 'vitest';
import { SYSTEMS } from '../systems/index.ts';
import { isOfSingleQuestions, type Named, sourcesOf, systemOf } from './model-attributes.ts';

const PAGE = 'https://example.org/shop/index.html';
const named = (attributes: Partial<Named> = {}): Named => ({
  model: null,
  draft: null,
  dflash: null,
  dspark: null,
  eagle3: null,
  mtp: null,
  system: null,
  base: null,
  sources: null,
  ...attributes,
});

const url = (address: string) => ({ kind: 'url', url: address });
const bundled = (address: string) => ({ ...url(address), revalidate: true, bundled: address.split('/').at(-2) });

describe('which models an element asks for', () => {
  it.each(SYSTEMS.map((system) => [system.id, system] as const))(
    '%s gets every model that it needs',
    async (id, system) => {
      const { needs, uses = [], usesOneOf = [] } = system;
      // No DSpark drafter is bundled.
      const own = needs.includes('dspark') ? { dspark: 'https://example.org/drafter/' } : {};
      const given = Object.keys(await sourcesOf(named({ system: id, ...own }), PAGE, SYSTEMS));
      expect(given).toEqual(expect.arrayContaining([...needs]));
      expect(needs.concat(uses, usesOneOf)).toEqual(expect.arrayContaining(given));
      // Block sizes of a nested system and sentence embeddings are extras that would bring the ONNX runtime.
      if (!needs.includes('policy')) expect(given).not.toContain('policy');
      expect(given).not.toContain('sentences');
    },
  );

  it('the bundled target comes with what its system needs and no more', async () => {
    expect(systemOf(named())).toBe('dflash');
    expect(await sourcesOf(named(), PAGE, SYSTEMS)).toEqual({
      target: bundled('https://example.org/shop/models/target/'),
      dflash: bundled('https://example.org/shop/models/dflash/'),
    });
    expect(Object.keys(await sourcesOf(named({ system: 'rsd' }), PAGE, SYSTEMS))).toEqual([
      'target',
      'draft',
      'prm',
      'dflash',
    ]);
  });

  it('a layer of the target’s own files drafts where the system is MTP, or where an attribute says so', async () => {
    const model = 'https://example.org/qwen3.5.gguf';
    const both = { target: url(model), mtp: 'built-in' };
    expect(await sourcesOf(named({ model, system: 'mtp' }), PAGE, SYSTEMS)).toEqual(both);
    expect(systemOf(named({ model, mtp: 'built-in' }))).toBe('mtp');
    expect(await sourcesOf(named({ model, mtp: 'built-in', system: 'combined' }), PAGE, SYSTEMS)).toEqual(both);
  });

  it('models of the bundled family come from below `base`', async () => {
    expect(await sourcesOf(named({ model: 'draft', base: '../ai/' }), PAGE, SYSTEMS)).toEqual({
      target: bundled('https://example.org/ai/models/draft/'),
    });
  });

  it('own models are addresses, and the fastest that they serve is the default', async () => {
    const own = { model: './llama.gguf', draft: 'https://cdn.example/small.gguf' };
    expect(systemOf(named({ model: './llama.gguf' }))).toBe('prompt-lookup');
    expect(systemOf(named(own))).toBe('draft-model');
    expect(await sourcesOf(named({ ...own, system: 'prompt-lookup' }), PAGE, SYSTEMS)).toEqual({
      target: url('https://example.org/shop/llama.gguf'),
      draft: url('https://cdn.example/small.gguf'),
    });
  });

  it('published models go by their ids in the catalogue', async () => {
    const hub = 'https://huggingface.co/';
    const pair = named({ model: 'qwen2.5-coder-1.5b', draft: 'qwen2.5-coder-0.5b' });
    expect(systemOf(pair)).toBe('draft-model');
    expect(await sourcesOf(pair, PAGE, SYSTEMS)).toEqual({
      target: url(`${hub}Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf`),
      draft: url(`${hub}Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q8_0.gguf`),
    });
  });

  it('a name that is neither bundled nor an address is refused', async () => {
    await expect(sourcesOf(named({ model: 'gpt' }), PAGE, SYSTEMS)).rejects.toThrow(/no bundled model "gpt"/);
  });

  it('sources that the page gives take the place of all that', async () => {
    const sources = { target: 'mid', eagle3: 'eagle3' };
    expect(await sourcesOf(named({ model: 'draft', sources }), PAGE, SYSTEMS)).toBe(sources);
    expect(systemOf(named({ sources }))).toBe('eagle3');
    expect(isOfSingleQuestions(named({ sources }))).toBe(false);
    expect(isOfSingleQuestions(named())).toBe(true);
  });
});
