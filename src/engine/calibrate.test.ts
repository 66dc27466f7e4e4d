import { expose } from 'comlink';
import { afterEach, describe, expect, it } from 'vitest';
import { unlessAborted } from '../base/errors.ts';
import { bad } from '../base/refuse.ts';
import specguard from '../systems/specguard.ts';
import { toyLoaded } from '../testing/contract/system-contract.ts';
import { sidecarWith } from '../testing/toys/route-engine.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import type { TraceEvent } from '../trace/index.ts';
import { clientOf } from '../worker/client.ts';
import { serve } from '../worker/service.ts';
import { calibrate } from './calibrate.ts';
import { createEngine, type Engine } from './engine.ts';
import type { LoadedModel } from './load/loaded-models.ts';
import type { Sidecar } from './load/sidecar.ts';

/** Token 3 is a blank line. */
const tokenizer = {
  decode: (tokens: readonly number[]) => tokens.map((token) => (token === 3 ? '\n\n' : 'a')).join(''),
  bytes: () => Uint8Array.of(97),
  stream: () => ({ push: () => '', end: () => '' }),
} as unknown as Tokenizer;

const close: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0)) await end();
});

const toyDraft = async (sidecar?: Sidecar): Promise<Engine> => {
  const engine = createEngine({ systems: [specguard] });
  const draft = { ...toyLoaded(toyModel({ vocabulary: 12, sharpness: 5 })), tokenizer, ...(sidecar && { sidecar }) };
  await engine.load({ target: draft, draft });
  return engine;
};

const prompts = Array.from({ length: 6 }, (_, i) => ({ tokens: [i, 4, 9] }));

/** What a run of SpecGuard goes by. */
const rangesIn = async (engine: Engine): Promise<TraceEvent | undefined> => {
  const events: TraceEvent[] = [];
  const request = { system: 'specguard', prompt: { tokens: [1, 2] }, knobs: { beta: 0.5 }, maxTokens: 9 };
  for await (const event of engine.run(request)) events.push(event);
  return events.find(({ type }) => type === 'calibration');
};

describe('calibrate', () => {
  it('finds the usual range of each signal for every rollout variant', async () => {
    const engine = await toyDraft();
    const told: number[] = [];
    const onProgress = (done: number, all: number) => told.push(done / all);
    const { calibration, kept } = await engine.calibrate({ prompts, maxTokens: 120, onProgress });
    expect(calibration.steps).toBeGreaterThan(20);
    const { logprob, grounding } = calibration;
    expect(logprob[0]).toBeLessThan(logprob[1]);
    expect(logprob[1]).toBeLessThanOrEqual(0);
    expect(Object.keys(grounding)).toEqual([
      '1 layers, threshold',
      '2 layers, threshold',
      '3 layers, threshold',
      '4 layers, threshold',
      '3 layers, threshold, without the sink',
      '3 layers, plain',
      '3 layers, residual',
      '3 layers, renormalised',
    ]);
    for (const [low, high] of Object.values(grounding)) expect(0 <= low && low < high && high <= 1).toBe(true);
    expect(told[0]).toBe(0);
    expect(told.every((share, i) => i === 0 || share > (told[i - 1] as number))).toBe(true);
    expect(kept).toBe(false);
    expect(await rangesIn(engine)).toMatchObject({ calibrated: false });
  });

  it('stores it next to the draft, and the next run uses it', async () => {
    const engine = await toyDraft(sidecarWith());
    expect(await rangesIn(engine)).toMatchObject({ calibrated: false });
    const { calibration, kept } = await engine.calibrate({ prompts, maxTokens: 120 });
    expect(kept).toBe(true);
    const grounding = calibration.grounding['3 layers, threshold'];
    expect(await rangesIn(engine)).toMatchObject({ calibrated: true, logprob: calibration.logprob, grounding });
  });

  it('a run whose calibration does not arrive ends with its signal', async () => {
    const abort = new AbortController();
    let reads = 0;
    const read: Sidecar['read'] = async (_, signal) => {
      if (reads++ === 0) return null; // the load
      setTimeout(() => abort.abort(), 20);
      return unlessAborted(new Promise(() => {}), signal as AbortSignal);
    };
    const engine = await toyDraft({ ...sidecarWith(), read });
    const events: TraceEvent[] = [];
    const request = { system: 'specguard', prompt: { tokens: [1, 2] }, maxTokens: 9 };
    for await (const event of engine.run(request, abort.signal)) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'aborted' });
  });

  it('replaces a calibration that is damaged, or that another program wrote', async () => {
    const unreadable = new Map<string, unknown>();
    const damaged: Sidecar = {
      async read(file) {
        if (unreadable.has(file)) return unreadable.get(file);
        throw bad(`${file}: not JSON`);
      },
      write: async (file, value) => unreadable.set(file, value).has(file),
    };
    for (const sidecar of [damaged, sidecarWith({ version: 2 }), sidecarWith({ bits: 4 })]) {
      const engine = await toyDraft(sidecar);
      await expect(rangesIn(engine)).rejects.toMatchObject({ code: 'bad-checkpoint' });
      const { calibration } = await engine.calibrate({ prompts, maxTokens: 120 });
      expect(await rangesIn(engine)).toMatchObject({ calibrated: true, logprob: calibration.logprob });
    }
  });

  it('is served to a page by an engine in a worker: result, progress and abort', async () => {
    const engine = await toyDraft(sidecarWith());
    const { port1, port2 } = new MessageChannel();
    expose(serve(engine), port1);
    const client = clientOf(port2);
    close.push(() => client.close());
    const told: number[] = [];
    const options = { prompts, maxTokens: 120 };
    const here = await engine.calibrate(options);
    expect(await client.calibrate({ ...options, onProgress: (done) => told.push(done) })).toEqual(here);
    expect(told).toEqual(Array.from({ length: 48 }, (_, i) => i));
    const abort = new AbortController();
    const aborted = client.calibrate({ ...options, signal: abort.signal, onProgress: () => abort.abort() });
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
  });

  it('refuses too few steps, and a missing draft; can be aborted', async () => {
    const engine = await toyDraft();
    await expect(engine.calibrate({ prompts: prompts.slice(0, 1), maxTokens: 30 })).rejects.toThrow(/too few/);
    await expect(engine.calibrate({ prompts, signal: AbortSignal.abort() })).rejects.toThrow(/aborted/);
    await expect(createEngine().calibrate({ prompts })).rejects.toThrow('no draft is loaded');
  });

  it('goes on with a draft that was loaded again after its device was lost, and is stored next to that one', async () => {
    const engine = await toyDraft();
    const [lost, again] = [0, 1].map(() => {
      const draft = toyLoaded(toyModel({ vocabulary: 12, sharpness: 5 }));
      return { ...draft, sidecar: sidecarWith() };
    }) as [LoadedModel, LoadedModel];
    const sources = {};
    let runs = 0;
    const run: Engine['run'] = (...asked) => {
      runs++;
      return engine.run(...asked);
    };
    const drafting = () => ({ draft: runs < 3 ? lost : again, sources });
    const { calibration } = await calibrate(run, drafting, { prompts, maxTokens: 120 });
    expect(await again.sidecar?.read('calibration.json')).toEqual(calibration);
    expect(await lost.sidecar?.read('calibration.json')).toBeNull();
  });

  it('notices that the models have changed under it', async () => {
    const engine = await toyDraft();
    const other = toyLoaded(toyModel({ vocabulary: 12, sharpness: 4 }));
    let changing: Promise<unknown> | undefined;
    const onProgress = () => {
      changing ??= engine.load({ target: other, draft: other });
    };
    await expect(engine.calibrate({ prompts, maxTokens: 60, onProgress })).rejects.toThrow('the draft was loaded anew');
    await changing;
  });
});
