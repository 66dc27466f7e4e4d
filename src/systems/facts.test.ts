// What every system declares about itself is whole, and plain data.
import { describe, expect, it } from 'vitest';
import { resolveKnobs } from '../decode/core/knobs.ts';
import { describeSystem, SYSTEM_GROUPS } from '../decode/core/system.ts';
import { createEngine } from '../engine/engine.ts';
import { type EventOf, thresholdOf, withNewNames } from '../trace/index.ts';
import { SYSTEM_IDS } from './ids.ts';
import { SYSTEMS } from './index.ts';

const ids = SYSTEMS.map(({ id }) => id);

describe.each(SYSTEMS.map((system) => ({ id: system.id, system })))('$id', ({ id, system }) => {
  const facts = describeSystem(system);

  it('describes itself in plain data', () => {
    expect(structuredClone(facts)).toEqual(facts);
    expect(ids.filter((each) => each === id)).toHaveLength(1);
    expect(facts.summary).toMatch(/^[^.]{20,110}\.$/);
    expect(Object.keys(SYSTEM_GROUPS)).toContain(facts.group);
    // Without it the contract tests would take the system for plain decoding.
    if (facts.group === 'speculative')
      expect(Object.keys(facts.knobs), "a speculative system needs the knob 'fall-back'").toContain('fall-back');
    expect(facts.paper).toMatch(/^(https:\/\/\S+)?$/);
    expect(facts.needs).toContain('target');
    expect(ids).toContain(facts.baseline ?? 'autoregressive');
  });

  it('names a knob for its threshold, and says which scores escalate, or neither', () => {
    const { escalates, threshold } = facts;
    expect(escalates !== undefined).toBe(threshold !== undefined);
    if (threshold) expect(facts.knobs[threshold]?.kind).toBe('number');
    // The table for old recordings, where it has this system, agrees.
    const run = { at: 0, type: 'run', version: 1, system: id, knobs: {}, seed: 0, prompt: [] } as const;
    const old = thresholdOf(withNewNames(run) as EventOf<'run'>);
    if (old) expect(old).toEqual({ escalates, threshold });
  });

  it('has variants that its knobs allow', () => {
    for (const { knobs } of system.variants ?? []) expect(() => resolveKnobs(system, knobs)).not.toThrow();
  });
});

it('the names that editors complete are those of all systems', () => {
  expect(SYSTEM_IDS).toEqual(ids);
});

describe('Engine.systems', () => {
  it('lists every system before anything is loaded, without a GPU', async () => {
    const engine = createEngine();
    expect(await engine.systems()).toEqual(SYSTEMS.map((system) => describeSystem(system)));
    await engine.close();
  });
});
