// What stays loaded from one load to the next, and models that do not belong together.
import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { type FileServer, serveFiles } from '../testing/servers/file-server.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import { folderSource } from '../weights/files/folder.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import { openSidecar } from './load/sidecar.ts';
import { ModelRegistry } from './registry.ts';

const bundled = (name: string) => folderSource(resolve(import.meta.dirname, '../../public/models', name));

it('a judge goes when the next load makes it read the tokens of another model', async () => {
  const registry = new ModelRegistry(testGpu, undefined);
  const [target, prm] = [await bundled('target'), await bundled('prm')];
  await registry.load({ target, prm }, {});
  const judge = registry.models.prm;
  await registry.load({ target, prm, draft: await bundled('draft') }, {});
  expect(registry.models.prm).toBe(judge);
  // Steps are judged in the draft's vocabulary, where it differs from the target's.
  const draft: LoadedModel = {
    name: 'toy',
    model: toyModel({ vocabulary: 40, sharpness: 4, context: 64 }),
    tokenizer: { ...(registry.models.target as LoadedModel).tokenizer, vocabulary: 40 } as LoadedModel['tokenizer'],
    stopTokens: [],
  };
  await expect(registry.load({ target, prm, draft }, { vocabularies: 'own' })).rejects.toMatchObject({
    code: 'vocabulary-mismatch',
  });
  expect(registry.models).toEqual({});
});

it('a block-size policy must read as many logits as its target has, also one that stays', async () => {
  const registry = new ModelRegistry(testGpu, undefined);
  const policy = await bundled('blockpilot');
  const target = (vocabulary: number): LoadedModel => ({
    name: `toy of ${vocabulary}`,
    model: toyModel({ vocabulary, sharpness: 4, context: 64 }),
    tokenizer: null,
    stopTokens: [],
  });
  await registry.load({ target: target(512), policy }, {});
  await expect(registry.load({ target: target(40), policy }, {})).rejects.toThrow(
    'reads 512 logits, and toy of 40 has 40',
  );
  expect(registry.models).toEqual({});
});

it('calls that come at once share one store', async () => {
  const registry = new ModelRegistry(testGpu, undefined);
  const [one, other] = await Promise.all([registry.openStore(), registry.openStore()]);
  expect(other).toBe(one);
  expect(registry.store).toBe(one);
});

describe("the draft's calibration", () => {
  const FILE = 'calibration.json';
  const written = { version: 1, steps: 20, logprob: [-5, 0], grounding: {} };
  let server: FileServer;
  beforeEach(async () => {
    server = await serveFiles({ [FILE]: new TextEncoder().encode(JSON.stringify(written)) });
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const draft = (): LoadedModel => ({
    name: 'toy',
    model: toyModel({ vocabulary: 12, sharpness: 4, context: 64 }),
    tokenizer: null,
    stopTokens: [],
    sidecar: openSidecar({ kind: 'url', url: server.address }, '', undefined),
  });

  it('is read by the load, so that no run has to', async () => {
    const registry = new ModelRegistry(testGpu, undefined);
    await registry.load({ target: draft(), draft: draft() }, {});
    expect(server.requests.map(({ path }) => path)).toEqual([FILE]); // the target's is not needed
    server.behave({ status: 500 });
    expect(await registry.models.draft?.sidecar?.read(FILE)).toEqual(written);
  });

  it('does not hold up a load that is aborted', async () => {
    const registry = new ModelRegistry(testGpu, undefined);
    server.behave({ stallAfter: 0 });
    const loading = registry.load({ draft: draft() }, { signal: AbortSignal.timeout(50) });
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
    expect(registry.models).toEqual({});
  });

  it('fails no load where it is damaged', async () => {
    const registry = new ModelRegistry(testGpu, undefined);
    server.files.set(FILE, new TextEncoder().encode('{'));
    await registry.load({ draft: draft() }, {});
    await expect(registry.models.draft?.sidecar?.read(FILE)).rejects.toThrow('calibration.json: not JSON');
  });
});
