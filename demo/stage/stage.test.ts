// The scenes of the recordings: what happens when, the sentences at their ends, and what a judge decides.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fold, METRICS, type TraceEvent } from '../../src/trace/index.ts';
import { decide, handOffOf, place, thresholdAt, thresholdFor } from './hand-off.ts';
import { DURATION, sceneOf, warp } from './scene.ts';

const recording = (name: string): readonly TraceEvent[] =>
  readFileSync(new URL(`../../public/traces/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const passesOf = (events: readonly TraceEvent[]): number => events.filter(({ type }) => type === 'verify').length;
const textOf = (marks: readonly { readonly text: string }[]): string => marks.map(({ text }) => text).join('');

describe('the clock of a scene', () => {
  test('goes through the stretched span without a jump, and ends with the run', () => {
    const time = warp(100, [10, 20]);
    const all = Array.from({ length: 101 }, (_, ms) => time(ms));
    expect(all.toSorted((a, b) => a - b)).toEqual(all);
    expect(time(0)).toBe(0);
    expect(time(20) - time(10)).toBeCloseTo(3.6);
    expect(time(100)).toBeCloseTo(DURATION - 1);
  });
});

describe('a speculative run', () => {
  const [run, plain] = [recording('problem-1'), recording('problem-1-plain')];
  const scene = sceneOf(run, plain, true);

  test('ends on the speed and a sentence, which are computed from both runs', () => {
    const drafts = fold(METRICS.draft_passes, run);
    const passes = `${passesOf(run)} passes of the large model instead of ${passesOf(plain)}, plus ${drafts} of the drafter`;
    const [mine = 0, theirs = 0] = [run, plain].map((events) => fold(METRICS.tokens_per_second, events) ?? 0);
    expect(scene.end).toEqual({
      factor: `${(mine / theirs).toFixed(2)}×`,
      sentence: `as fast after the first token in this recording, word for word the same: ${passes}.`,
    });
    // Runs that were not made to be compared have no speed-up.
    expect(sceneOf(run, plain).end).toEqual({ factor: null, sentence: `${passes}, word for word the same.` });
    const other = plain.map((event) => (event.type === 'commit' ? { ...event, tokens: [1] } : event));
    expect(sceneOf(run, other).end.sentence).toContain('with different words');
  });

  test('both lanes end with the same text, and their tokens appear in order', () => {
    expect(textOf(scene.system.marks)).toBe(textOf(scene.plain?.marks ?? []));
    for (const { marks, passes } of [scene.system, scene.plain ?? scene.system]) {
      for (const times of [marks.map(({ at }) => at), passes]) {
        expect(times.toSorted((a, b) => a - b)).toEqual(times);
        expect(times.every((at) => at >= 0 && at <= DURATION)).toBe(true);
      }
    }
    expect(scene.plain?.passes).toHaveLength(passesOf(plain));
  });

  test('a burst is guessed, checked, decided and corrected, in this order', () => {
    expect(scene.bursts).toHaveLength(passesOf(run));
    for (const { from, checked, decided, corrected, ended } of scene.bursts)
      expect([from, checked, decided, corrected, ended].toSorted((a, b) => a - b)).toEqual([
        ...[from, checked, decided, corrected, ended],
      ]);
    const [first] = scene.bursts;
    expect(first?.chips.some(({ status }) => status === 'rejected')).toBe(true);
    expect(first?.own?.source).toBe('corrected');
  });
});

test('the vote: chips carry the model that proposed them, and a ballot tells where the models disagree', () => {
  const scene = sceneOf(recording('problem-6'), recording('problem-6-plain'));
  const [struck] = scene.bursts.filter(({ chips }) => chips.some(({ status }) => status === 'rejected'));
  expect(struck?.chips.every(({ member }) => member !== null && member >= 0)).toBe(true);
  expect(struck?.ballot).toMatch(/^A: 2 \(100 %\) · B: 1 \(\d+ %\) · C: 1 \(\d+ %\)$/);
  expect((struck?.ended ?? 0) - (struck?.from ?? 0)).toBeGreaterThan(3); // slow enough to be read
  const members = new Set(scene.bursts.flatMap(({ chips }) => chips.map(({ member }) => member)));
  expect([0, 1, 2].every((member) => members.has(member))).toBe(true);
});

describe('handing off', () => {
  const scene = handOffOf(recording('problem-4'), recording('problem-4-plain'), recording('problem-4-draft'));
  if (!scene) throw new Error('the recording has no steps');

  test('the recorded threshold decides as the run did: the step with 27 + 18 goes to the target', () => {
    const decided = decide(scene, scene.threshold);
    const wrong = scene.steps.findIndex(({ draft }) => draft.join('').includes('27 + 18'));
    expect(decided.handedOff).toEqual(scene.steps.map((_, i) => i === wrong));
    expect(decided).toMatchObject({ answer: '9', right: true });
  });

  test('a judge that keeps everything lets 45 pass; one that keeps nothing costs more than the target alone', () => {
    const mild = decide(scene, thresholdFor(scene.rule, 0));
    expect(mild.handedOff).toEqual([false, false, false]);
    expect(mild).toMatchObject({ answer: '45', right: false, targetTokens: 0 });
    const strict = decide(scene, thresholdFor(scene.rule, 1));
    expect(strict.handedOff).toEqual([true, true, true]);
    expect(strict).toMatchObject({ answer: '9', right: true, targetTokens: scene.tokens });
    expect(strict.totalMs).toBeGreaterThan(scene.cost.alone);
    expect(strict.totalMs).toBeGreaterThan(mild.totalMs);
  });

  test('where the recordings do not tell the answer, none is claimed', () => {
    const [first, second, third] = scene.steps;
    if (!first || !second || !third) throw new Error('three steps');
    const odd = {
      ...scene,
      steps: [
        { ...first, score: 1 },
        { ...second, score: 1 },
        { ...third, score: 0 },
      ],
    };
    expect(decide(odd, 0.5)).toMatchObject({ handedOff: [false, false, true], answer: null, right: null });
  });

  test('the scale of the slider is its own inverse, and reaches every score', () => {
    for (const strict of [0, 0.1, 0.5, 0.9, 1]) expect(place(thresholdAt(strict))).toBeCloseTo(strict);
    const counts = [0, 0.25, 0.5, 0.75, 0.82, 1].map(
      (strict) => decide(scene, thresholdFor(scene.rule, strict)).handedOff.filter(Boolean).length,
    );
    expect(counts.toSorted((a, b) => a - b)).toEqual(counts);
    expect(new Set(counts).size).toBeGreaterThan(2);
  });

  test('a run without a threshold is no such scene', () => {
    expect(handOffOf(recording('problem-1'), recording('problem-1-plain'), [])).toBeNull();
  });
});
