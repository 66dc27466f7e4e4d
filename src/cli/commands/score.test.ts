import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { callCli, PATIENCE, runCli } from '../../testing/run-cli.ts';

const golden = <T>(name: string): T => JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8')) as T;
const floats = (path: string): number[] => [
  ...new Float32Array(new Uint8Array(readFileSync(shared('golden', path))).buffer),
];

const score = async <T>(...args: string[]): Promise<T> => {
  const { stdout, stderr, status } = await runCli('score', ...args);
  expect(stderr).toContain('device: ');
  expect(status).toBe(0);
  return JSON.parse(stdout) as T;
};

const near = (actual: readonly number[], expected: readonly number[]): void => {
  expect(actual.length).toBe(expected.length);
  const worst = Math.max(...actual.map((x, i) => Math.abs(x - (expected[i] as number))));
  expect(worst).toBeLessThan(1e-4);
};

describe.skipIf(noShared)('score', PATIENCE, () => {
  it('a reward head: the reward at each position', async () => {
    const { input_ids, positions, rewards } =
      golden<Record<'input_ids' | 'positions' | 'rewards', number[]>>('value-head-tiny');
    const asked = ['--judge', shared('golden/value-head-tiny'), '--tokens', input_ids.join(',')];
    const all = await score<{ scores: number[] }>(...asked, '--positions', positions.join(','));
    near(all.scores, rewards);
    const last = await score<{ scores: number[] }>(...asked);
    near(last.scores, rewards.slice(-1));
  });

  it('a token classifier: the probability of every class at the last token', async () => {
    const name = 'token-classification-tiny';
    const { input_ids, probabilities_last } = golden<Record<'input_ids' | 'probabilities_last', number[]>>(name);
    const asked = ['--judge', shared('golden', name), '--tokens', input_ids.join(',')];
    const found = await score<{ scores: number[]; labels: string[] }>(...asked);
    near(found.scores, probabilities_last);
    expect(found.labels).toHaveLength(2);
    const two = await score<{ scores: number[][] }>(...asked, '--positions', '3,25');
    near(two.scores[1] as number[], probabilities_last);
  });

  it('rollout: what each token rests on, and how likely it was', async () => {
    const { input_ids, source } = golden<Record<'input_ids' | 'source', number[]>>('rollout-tiny');
    const from = source[1] as number;
    for (const variant of ['threshold', 'plain', 'residual']) {
      const asked = ['--rollout', '--model', shared('golden/llama-tiny'), '--tokens', input_ids.join(',')];
      const found = await score<{ grounding: number[]; logprob: number[] }>(
        ...asked,
        '--from',
        `${from}`,
        '--variant',
        variant,
      );
      near(found.grounding, floats(`rollout-tiny/grounding_${variant}.f32`));
      near(found.logprob, floats('rollout-tiny/logprobs.f32').slice(from - 1));
    }
    const { cost } = await score<{ cost: Record<'plain_ms' | 'rollout_ms' | 'ratio', number> }>(
      ...['--rollout', '--model', shared('golden/llama-tiny'), '--tokens', input_ids.join(','), '--from', '20'],
      ...['--cost', '9'],
    );
    expect(cost.ratio).toBeGreaterThan(0.2);
    expect(cost.rollout_ms).toBeGreaterThan(0);
  });

  it('inspect knows a judge', async () => {
    const { stdout } = await callCli('inspect', shared('golden/token-classification-tiny'), '--json');
    expect(JSON.parse(stdout)).toMatchObject({ family: 'qwen2', judge: true, unsupported: null, head: null });
  });

  it('a language model is no judge', async () => {
    const { status, stderr } = await runCli('score', '--judge', shared('golden/llama-tiny'), '--tokens', '1,2');
    expect(status).toBe(1);
    expect(stderr).toContain('neither v_head.summary.weight nor score.weight');
  });
});

describe('score, wrong arguments', () => {
  it.each([
    [['--tokens', '1,2'], 'either --judge M or --rollout'],
    [['--judge', 'a', '--rollout', '--tokens', '1,2'], 'either --judge M or --rollout'],
    [['--rollout'], 'needs --tokens'],
    [['--rollout', '--tokens', '1,2'], 'needs --from I'],
    [['--rollout', '--tokens', '1,2', '--from', '2'], 'needs --from I'],
    [['--rollout', '--tokens', '1,2', '--from', '1', '--layers', 'some'], '--layers some'],
    [['--rollout', '--tokens', '1,2', '--positions', '1'], '--positions belongs to --judge'],
    [['--judge', 'a', '--tokens', '1,2', '--model', 'b'], '--model belongs to --rollout'],
    [['--judge', 'a', '--tokens', '1,2', '--cost', '2'], '--cost belongs to --rollout'],
    [['--judge', 'a', '--tokens', '1,2', '--positions', '2'], 'position 2'],
  ])('%j', async (args, message) => {
    const { status, stderr } = await callCli('score', ...args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});
