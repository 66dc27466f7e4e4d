import { expect, it } from 'vitest';
import { normalized, rangesOf, readCalibration, rolloutKey, usualRange } from './calibration.ts';

it("takes quantiles as NumPy's linear method does", () => {
  expect(usualRange(Array.from({ length: 101 }, (_, i) => 100 - i))).toEqual([5, 95]);
  // numpy.quantile(numpy.arange(24) ** 2, [.05, .95])
  const [low, high] = usualRange(Array.from({ length: 24 }, (_, i) => i * i)) ?? [];
  expect(low).toBeCloseTo(1.45, 10);
  expect(high).toBeCloseTo(477.55, 10);
  expect(usualRange(Array.from({ length: 24 }, () => 3))).toBeNull();
  expect(usualRange([1, 2, 3])).toBeNull();
});

it('places a value within the usual range', () => {
  expect([-9, -4, -3, -2, 0].map((x) => normalized(x, [-4, -2]))).toEqual([0, 0, 0.5, 1, 1]);
});

it('names a rollout by the layers of the model', () => {
  const rollout = { layers: 3, variant: 'threshold' } as const;
  expect(rolloutKey(rollout, 2)).toBe('2 layers, threshold');
  expect(rolloutKey({ ...rollout, layers: 'all', skip: 1 }, 4)).toBe('4 layers, threshold, without the sink');
});

it('is used only for the rollout that it was made with', () => {
  const calibration = readCalibration({ version: 1, steps: 30, logprob: [-5, -1], grounding: { a: [0.2, 0.6] } });
  expect(rangesOf(calibration, 'a')).toEqual({ calibrated: true, logprob: [-5, -1], grounding: [0.2, 0.6] });
  expect(rangesOf(calibration, 'b')).toEqual({ calibrated: false, logprob: [-5, -1], grounding: [0, 1] });
  expect(rangesOf(calibration, null)).toEqual({ calibrated: true, logprob: [-5, -1], grounding: null });
  expect(rangesOf(readCalibration(null), 'a')).toMatchObject({ calibrated: false, grounding: [0, 1] });
});

it('refuses a file that is no calibration', () => {
  const good = { version: 1, steps: 30, logprob: [-5, -1], grounding: {} };
  expect(readCalibration(good)).toEqual(good);
  for (const bad of [{}, { ...good, version: 2 }, { ...good, logprob: [-1, -5] }, { ...good, grounding: { a: [1] } }])
    expect(() => readCalibration(bad)).toThrow(/calibration/);
});
