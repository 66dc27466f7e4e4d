import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { relativeError } from '../../testing/goldens/golden.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { callCli, PATIENCE, runCli } from '../../testing/run-cli.ts';
import { tinyMtp } from '../../testing/toys/tiny-mtp.ts';

const scratch = mkdtempSync(join(tmpdir(), 'outrider-draft-logits-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const floats = (path: string): Float32Array => new Float32Array(new Uint8Array(readFileSync(path)).buffer);
const golden = (name: string) => JSON.parse(readFileSync(shared('golden', name, 'case.json'), 'utf8'));

const TARGET = ['--target', shared('golden/qwen3-tiny-deep')];

const draftLogits = (drafter: string, tokens: readonly number[], size: number, ...rest: string[]) => {
  const args = ['--drafter', shared('golden', drafter), '--tokens', tokens.join(','), '--block-size', `${size}`];
  return runCli('draft-logits', ...TARGET, ...args, ...rest);
};

it('a built-in drafter comes from the target, and the system MTP takes it by itself', PATIENCE, async () => {
  for (const [name, bytes] of tinyMtp().source.files) writeFileSync(join(scratch, name), bytes);
  const tokens = ['--tokens', '4,46,37'];
  const drafted = await runCli(
    ...['draft-logits', '--target', scratch, '--drafter', 'built-in', ...tokens, '--block-size', '3'],
  );
  expect(JSON.parse(drafted.stdout)).toMatchObject({ rows: 2, vocabulary: 50 });
  const length = ['--max-tokens', '12', '--json'];
  const written = await runCli('generate', '--model', scratch, '--system', 'mtp', ...tokens, ...length);
  expect(written).toMatchObject({ status: 0, stdout: expect.stringContaining('"by":"mtp"') });
});

describe.skipIf(noShared)('draft-logits', PATIENCE, () => {
  it('DFlash: a block, as the authors score it', async () => {
    const { prefix, round1 } = golden('dflash-tiny');
    const out = join(scratch, 'block.f32');
    const finished = await draftLogits('dflash-tiny', [...prefix, round1.block_ids[0]], 8, '--out', out);
    expect(finished).toMatchObject({ status: 0, stderr: expect.stringContaining('device: ') });
    expect(JSON.parse(finished.stdout)).toEqual({
      rows: 7,
      vocabulary: 331,
      argmax: round1.drafts,
      tokens: round1.drafts,
    });
    expect(relativeError(floats(out), floats(shared('golden/dflash-tiny/draft_logits_round1.f32')))).toBeLessThan(1e-3);
  });

  it('EAGLE-3: a greedy chain over the draft vocabulary, with the ids of the target', async () => {
    const { prefill_tokens: tokens, chain } = golden('eagle3-tiny');
    const out = join(scratch, 'chain.f32');
    const finished = await draftLogits('eagle3-tiny', tokens, 5, '--out', out);
    expect(finished.status).toBe(0);
    expect(JSON.parse(finished.stdout)).toEqual({
      rows: 4,
      vocabulary: 128,
      argmax: chain.draft_indices,
      tokens: chain.drafts,
    });
    expect(relativeError(floats(out), floats(shared('golden/eagle3-tiny/chain_logits.f32')))).toBeLessThan(1e-3);
  });

  it('names no default of --drafter, which it has not', async () => {
    const { stdout } = await callCli('draft-logits', '--help');
    expect(stdout).toMatch(/--drafter M +a DFlash, DSpark or EAGLE-3 drafter of this target, or built-in/);
    expect(stdout).not.toContain("the system's");
  });

  it.each([
    [['--tokens', '1,2', '--block-size', '1'], '--block-size 1 leaves nothing to draft'],
    [['--tokens', '1,2', '--block-size', '0'], '--block-size: 0 is less than 1'],
    [['--tokens', '1,2', '--block-size', '33'], 'a block of 33; this drafter was trained for 1 to 8'],
    [['--tokens', '1', '--block-size', '4'], 'a prefix and the anchor'],
    [['--tokens', '1,331', '--block-size', '4'], 'token 331 is outside the vocabulary of 331'],
  ])('exits with 2 on %j', async (args, message) => {
    const drafter = ['--drafter', shared('golden/dflash-tiny')];
    const { status, stdout, stderr } = await callCli('draft-logits', ...TARGET, ...drafter, ...args);
    expect(stderr).toContain(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});
