import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { callCli, PATIENCE, runCli } from '../../testing/run-cli.ts';

const scratch = mkdtempSync(join(tmpdir(), 'outrider-logits-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const floats = (path: string): Float32Array => new Float32Array(new Uint8Array(readFileSync(path)).buffer);

/** The largest error in standard deviations of the reference; the reference's tolerance at f32 is 1e-3. */
const worstError = (actual: Float32Array, expected: Float32Array): number => {
  expect(actual.length).toBe(expected.length);
  const mean = expected.reduce((sum, value) => sum + value, 0) / expected.length;
  const variance = expected.reduce((sum, value) => sum + (value - mean) ** 2, 0) / expected.length;
  return (
    expected.reduce((most, value, i) => Math.max(most, Math.abs(value - (actual[i] as number))), 0) /
    Math.sqrt(variance)
  );
};

interface Case {
  readonly prompt: number[];
  readonly greedy: number[];
  readonly tree: { readonly prefix: number[]; readonly tokens: number[]; readonly parents: number[] };
}
const golden = (name: string): Case => JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8'));

const logits = async (model: string, tokens: readonly number[], ...args: string[]) => {
  const finished = await runCli('logits', '--model', shared('golden', model), '--tokens', tokens.join(','), ...args);
  expect(finished.stderr).toContain('device: ');
  expect(finished.status).toBe(0);
  return JSON.parse(finished.stdout) as { rows: number; vocabulary: number; argmax: number[] };
};

describe('damaged weights', PATIENCE, () => {
  it.each([
    ['logits', '--tokens', '1,2'],
    ['score', '--rollout', '--tokens', '1,2,3', '--from', '1'],
  ])('%s refuses to print a NaN', async (...args) => {
    const folder = join(scratch, 'nan');
    cpSync('public/models/draft', folder, { recursive: true });
    const path = join(folder, 'model.safetensors');
    const bytes = readFileSync(path);
    const header = Number(bytes.readBigUInt64LE(0));
    const { 'model.norm.weight': norm } = JSON.parse(bytes.subarray(8, 8 + header).toString());
    bytes.fill(0xff, 8 + header + norm.data_offsets[0], 8 + header + norm.data_offsets[1]);
    writeFileSync(path, bytes);
    const { status, stdout, stderr } = await runCli(...args, '--model', folder);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('bad-checkpoint: the logits (final norm · head) hold a NaN or an infinity');
  });
});

describe('what is refused once the models are there', PATIENCE, () => {
  it.each([
    ['logits', '--model', 'draft', '--tokens', '1,2', '--taps', '9'],
    ['draft-logits', '--drafter', 'dflash', '--tokens', '1,2', '--block-size', '17'],
  ])('%s leaves the file of an earlier run', async (...args) => {
    const out = join(scratch, 'earlier.f32');
    writeFileSync(out, 'earlier');
    expect((await runCli(...args, '--out', out)).status).toBe(2);
    expect(readFileSync(out, 'utf8')).toBe('earlier');
  });
});

describe.skipIf(noShared)('logits', PATIENCE, () => {
  it('writes what the reference has, taps too, and the same bits at any chunk', async () => {
    const { prompt, greedy } = golden('qwen3-tiny');
    const out = join(scratch, 'chain.f32');
    const printed = await logits('qwen3-tiny', prompt, '--taps', '0,2', '--out', out);
    expect(printed).toMatchObject({ rows: 23, vocabulary: 331 });
    expect(printed.argmax).toHaveLength(23);
    expect(printed.argmax[22]).toBe(greedy[0]);
    expect(worstError(floats(out), floats(shared('golden/qwen3-tiny/logits.f32')))).toBeLessThan(1e-3);

    // hidden[1] is the stream after layer 0; the last layer's is the stream before the final norm.
    const rows = 23 * 64;
    const hidden = floats(shared('golden/qwen3-tiny/hidden.f32'));
    expect(worstError(floats(`${out}.tap-0`), hidden.slice(rows, 2 * rows))).toBeLessThan(1e-3);
    expect(worstError(floats(`${out}.tap-2`), floats(shared('golden/qwen3-tiny/residual_last.f32')))).toBeLessThan(
      1e-3,
    );

    for (const chunk of ['1', '5']) {
      const again = join(scratch, `chain-${chunk}.f32`);
      expect(await logits('qwen3-tiny', prompt, '--chunk', chunk, '--out', again)).toEqual(printed);
      expect(readFileSync(again).equals(readFileSync(out)), `chunk ${chunk}`).toBe(true);
    }
  });

  it.each([
    ['f16', 1e-2],
    ['q8', 5e-2],
  ])('keeps keys and values as %s when asked: near the reference, the same bits at any chunk', async (kv, most) => {
    const { prompt } = golden('qwen3-tiny');
    const [whole, alone] = [join(scratch, 'kv.f32'), join(scratch, 'kv-1.f32')];
    await logits('qwen3-tiny', prompt, '--kv', kv, '--out', whole);
    await logits('qwen3-tiny', prompt, '--kv', kv, '--chunk', '1', '--out', alone);
    expect(readFileSync(alone).equals(readFileSync(whole))).toBe(true);
    const error = worstError(floats(whole), floats(shared('golden/qwen3-tiny/logits.f32')));
    expect(error).toBeGreaterThan(1e-5);
    expect(error).toBeLessThan(most);
  });

  it('scores a tree after a committed prefix, its rows only', async () => {
    const { prefix, tokens, parents } = golden('llama-tiny').tree;
    const out = join(scratch, 'tree.f32');
    const tree = ['--prefix-length', String(prefix.length), '--parents', parents.join(',')];
    const printed = await logits('llama-tiny', [...prefix, ...tokens], ...tree, '--chunk', '4', '--out', out);
    expect(printed).toMatchObject({ rows: 9, vocabulary: 320 });
    expect(worstError(floats(out), floats(shared('golden/llama-tiny/tree_logits.f32')))).toBeLessThan(1e-3);
  });

  it.skipIf(!existsSync('/dev/full'))('says that the disk is full', async () => {
    const args = ['--model', 'draft', '--tokens', '1,2', '--out', '/dev/full'];
    const { status, stdout, stderr } = await runCli('logits', ...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' }); // the argument was right, the work failed
    expect(stderr).toContain('outrider: bad-request: cannot write /dev/full: ENOSPC');
  });

  it.each([
    ['logits', '--tokens', '1,2'],
    ['draft-logits', '--drafter', 'dflash', '--tokens', '1,2', '--block-size', '4'],
  ])('%s refuses a file in no folder before it opens a device', async (...args) => {
    const { status, stdout, stderr } = await callCli(...args, '--out', 'nowhere/x.f32');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('cannot write nowhere/x.f32');
    expect(stderr).not.toContain('device:');
  });

  it.each([
    [['--tokens', '1,2', '--taps', '0'], '--taps needs --out'],
    [['--tokens', '1,2', '--prefix-length', '2'], '--prefix-length 2 leaves no row'],
    [['--tokens', '1,2', '--chunk', '17'], '--chunk: 17 is more than 16'],
    [[], 'logits needs --tokens'],
    [['--tokens', '1,320'], 'token 320 is outside the vocabulary of 320'],
    [['--tokens', '1,2', '--parents', '-1'], '1 parents for a tree of 2 tokens'],
    [['--tokens', '1,2', '--parents', '-1,1'], 'node 1 names 1 as its parent'],
    [['--tokens', '1,2', '--taps', '3', '--out', join(scratch, 'x')], 'layer'],
  ])('exits with 2 on %j', async (args, message) => {
    const { status, stdout, stderr } = await callCli('logits', '--model', shared('golden/llama-tiny'), ...args);
    expect(stderr).toContain(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});
