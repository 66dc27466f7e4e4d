// The engine on real models, on a real adapter: greedy tokens against reference outputs, work counted per token, memory
// given back.
import { afterAll, describe, expect, it } from 'vitest';
import { bench } from '../cli/bench/compare.ts';
import { openNodeGpu } from '../gpu/node.ts';
import { testGpu } from '../testing/device/gpu.ts';
import { goldenTensor, readGolden } from '../testing/goldens/golden.ts';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { committedTokens, type EventOf, measure, type TraceEvent } from '../trace/index.ts';
import { folderSource } from '../weights/files/folder.ts';
import { createEngine } from './engine.ts';
import { loadSource } from './load/language-model.ts';
import type { LoadOptions, LoadProgress, ModelSources } from './sources.ts';

const open = async (name: string) => {
  const engine = createEngine({ gpu: await testGpu() });
  await engine.load({ target: await folderSource(shared('golden', name)) });
  const run = async (request: Parameters<typeof engine.run>[0]): Promise<TraceEvent[]> => {
    const events: TraceEvent[] = [];
    for await (const event of engine.run(request)) events.push(event);
    return events;
  };
  return { engine, run };
};

describe.skipIf(noShared)('reference models', () => {
  afterAll(async () => (await testGpu()).destroy());

  it.each(['llama-tiny', 'qwen2-tiny', 'qwen3-tiny'])('%s writes the reference tokens', async (name) => {
    const { prompt, greedy } = readGolden(name);
    const { engine, run } = await open(name);
    const request = { prompt: { tokens: prompt }, maxTokens: greedy.length, ignoreEos: true };
    const events = await run(request);
    expect(committedTokens(events)).toEqual(greedy);
    await engine.close();
  });

  it('takes one readback, one submit and at most twelve dispatches a layer for each token', async () => {
    const { prompt } = readGolden('llama-tiny');
    const { engine, run } = await open('llama-tiny');
    const events = await run({ prompt: { tokens: prompt }, maxTokens: 20, ignoreEos: true });
    const work = events.filter((event): event is EventOf<'kernels'> => event.type === 'kernels');
    expect(work).toHaveLength(20);
    const layers = 3;
    for (const { round, submits, readbacks, dispatches } of work) {
      expect(readbacks).toBe(1);
      if (round === 0) continue; // the prompt: a submit for each 32 rows
      expect(submits).toBe(1);
      expect(dispatches).toBeLessThanOrEqual(12 * layers + 6);
    }
    expect(measure(events)).toMatchObject({ tokens: 20, readbacks: 20 });
    await engine.close();
  });

  it('times the kernels of each round where that is asked for, and of no other run', async () => {
    const { prompt, greedy } = readGolden('llama-tiny');
    const { engine, run } = await open('llama-tiny');
    const request = { prompt: { tokens: prompt }, maxTokens: 4, ignoreEos: true };
    const events = await run({ ...request, profile: true });
    expect(committedTokens(events)).toEqual(greedy.slice(0, 4));
    const spans = (all: readonly TraceEvent[]) =>
      all.flatMap((event) => (event.type === 'kernels' ? [event.spans] : []));
    for (const round of spans(events)) {
      expect(round.map(({ name }) => name)).toContain('rms-norm');
      expect(round.reduce((sum, { ms }) => sum + ms, 0)).toBeGreaterThan(0);
    }
    expect(spans(await run(request)).flat()).toEqual([]);
    await engine.close();
  });

  it('reports the log-probabilities of the reference logits', async () => {
    const { prompt, greedy } = readGolden('llama-tiny');
    const { engine, run } = await open('llama-tiny');
    const events = await run({ prompt: { tokens: prompt }, maxTokens: 2, ignoreEos: true, logprobs: 3 });
    const [first] = events.filter((event) => event.type === 'commit');
    const all = goldenTensor('llama-tiny', 'logits.f32');
    const logits = all.slice(-all.length / prompt.length);
    const norm = Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0));
    const best = [...logits.keys()].sort((a, b) => (logits[b] as number) - (logits[a] as number)).slice(0, 3);
    const [reported] = first?.logprobs ?? [];
    expect(reported?.token).toBe(greedy[0]);
    expect(reported?.top.map(({ token }) => token)).toEqual(best);
    for (const { token, logprob } of reported?.top ?? [])
      expect(logprob).toBeCloseTo((logits[token] as number) - norm, 3);
    expect(reported?.logprob).toBe(reported?.top[0]?.logprob);
    await engine.close();
  });

  it('names a device that was lost in the middle of a run', async () => {
    const gpu = await openNodeGpu();
    const engine = createEngine({ gpu });
    await engine.load({ target: await folderSource(shared('golden', 'llama-tiny')) });
    const request = { prompt: { tokens: [1, 2, 3] }, maxTokens: 20, ignoreEos: true };
    const run = async (): Promise<void> => {
      for await (const event of engine.run(request)) if (event.type === 'commit' && event.round === 3) gpu.destroy();
    };
    await expect(run()).rejects.toMatchObject({ code: 'device-lost' });
    await expect(run()).rejects.toMatchObject({ code: 'device-lost' });
    await engine.close();
  });

  it('samples the same tokens for the same seed, afresh or from the cache of the conversation', async () => {
    const { prompt } = readGolden('qwen3-tiny');
    const { engine, run } = await open('qwen3-tiny');
    const request = { prompt: { tokens: prompt }, temperature: 1, seed: 11, maxTokens: 24, ignoreEos: true };
    const first = await run(request);
    const again = await run(request);
    expect(committedTokens(again)).toEqual(committedTokens(first));
    expect(measure(again).reused_tokens).toBe(prompt.length - 1);
    expect(committedTokens(await run({ ...request, seed: 12 }))).not.toEqual(committedTokens(first));
    // A second turn: whatever the cache was computed in, it must equal one computed at once.
    const turn = { ...request, prompt: { tokens: [...prompt, ...committedTokens(first), 5, 6, 7] } };
    await run(request);
    const continued = await run(turn);
    expect(measure(continued).reused_tokens).toBe(prompt.length + 23);
    const afresh = await open('qwen3-tiny');
    expect(committedTokens(await afresh.run(turn))).toEqual(committedTokens(continued));
    await afresh.engine.close();
    await engine.close();
  });

  it('reports progress, and gives back all memory when closed, aborted or refused', async () => {
    const gpu = await testGpu();
    const engine = createEngine({ gpu });
    const target = await folderSource(shared('golden', 'llama-tiny'));
    const before = gpu.bytes;
    const progress: LoadProgress[] = [];
    await engine.load({ target }, { onProgress: (step) => progress.push(step) });
    expect(gpu.bytes).toBeGreaterThan(before);
    for (const phase of ['upload', 'compile'] as const) {
      const last = progress.findLast((step) => step.phase === phase);
      expect(last).toMatchObject({ role: 'target', loaded: last?.total });
    }
    const abort = new AbortController();
    const another = await folderSource(shared('golden', 'llama-tiny'));
    const aborted = engine.load({ target: another }, { signal: abort.signal, onProgress: () => abort.abort() });
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
    expect(gpu.bytes).toBe(before);
    await engine.load({ target });
    const bad = await folderSource(shared('golden', 'dflash-tiny'));
    await expect(engine.load({ target, draft: bad })).rejects.toMatchObject({ code: 'bad-checkpoint' });
    expect(gpu.bytes).toBe(before);
    await engine.close();
    expect(gpu.bytes).toBe(before);
  });

  it('keeps what is asked for again, and frees drafters with the target that they were loaded for', async () => {
    const gpu = await testGpu();
    const before = gpu.bytes;
    const engine = createEngine({ gpu });
    const source = (name: string) => folderSource(shared('golden', name));
    const [target, dflash, other] = [
      await source('qwen3-tiny-deep'),
      await source('dflash-tiny'),
      await source('llama-tiny'),
    ];
    const load = async (models: ModelSources, precision?: LoadOptions['precision']) => {
      const roles = new Set<string>();
      await engine.load(models, { ...(precision && { precision }), onProgress: ({ role }) => roles.add(role) });
      return [...roles];
    };
    expect(await load({ target })).toEqual(['target']);
    const alone = gpu.bytes;
    expect(await load({ target, dflash })).toEqual(['dflash']);
    const both = gpu.bytes;
    expect(both).toBeGreaterThan(alone);
    expect(await load({ target, dflash })).toEqual([]);
    expect(gpu.bytes).toBe(both);
    expect(await load({ target })).toEqual([]);
    expect(gpu.bytes).toBe(alone);
    expect(await load({ target, dflash }, 'q8')).toEqual(['target', 'dflash']);
    expect(await load({ target: await source('qwen3-tiny-deep'), dflash }, 'q8')).toEqual(['target', 'dflash']);
    expect(await load({ target: other })).toEqual(['target']);
    const members = { target, 'also-1': await source('qwen3-tiny-deep'), 'also-2': target };
    expect(await load(members, { 'also-1': 'q8' })).toEqual(['target', 'also-1', 'also-2']);
    expect(await load(members, { 'also-1': 'q4' })).toEqual(['also-1']);
    expect(await load({ target, 'also-1': target }, { 'also-1': 'q4' })).toEqual(['also-1']);
    await engine.close();
    expect(gpu.bytes).toBe(before);
  });

  it('is benched: every figure of the report, for a model without a tokenizer', async () => {
    const gpu = await testGpu();
    const before = gpu.bytes;
    const target = await loadSource(gpu, await folderSource(shared('golden', 'qwen3-tiny')));
    const lines: string[] = [];
    const report = await bench(
      gpu,
      { target },
      {
        prompts: null,
        systems: [],
        profile: true,
        maxTokens: 8,
        repeat: 2,
        signal: new AbortController().signal,
        onProgress: (line) => lines.push(line),
        onNote: () => {},
      },
    );
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    expect(report).toMatchObject({ prompts: 4, repeat: 2, verify_cost: { 1: 1 } });
    for (const cost of Object.values(report.verify_ms)) expect(cost).toBeGreaterThan(0);
    expect(report.device.bandwidth_gb_per_second).toBeGreaterThan(0.1);
    expect(report.device.multiply_add_gflops).toBeGreaterThan(0.1);
    expect(report.prefill.tokens_per_second?.median).toBeGreaterThan(0);
    expect(report.systems).toHaveLength(1);
    const [plain] = report.systems;
    expect(plain).toMatchObject({ lossless: true, tokens_per_round: 1, submits_per_token: 1, readbacks_per_token: 1 });
    expect(plain).toMatchObject({ speedup: { median: 1 }, accuracy: null, escalation_rate: null, target_tokens: 64 });
    expect(plain?.bandwidth_share).toBeGreaterThan(0);
    expect(plain?.peak_bytes).toBeGreaterThan(target.model.bytes);
    expect(lines).toContain('run 8 of 8');
    const [profile] = report.profiles ?? [];
    expect(profile).toMatchObject({ system: 'autoregressive', rounds: 7 });
    expect(profile?.kernels.map(({ name }) => name)).toContain('rms-norm');
    target.model[Symbol.dispose]();
    expect(gpu.bytes).toBe(before);
  });
});
