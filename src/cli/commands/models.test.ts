import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../catalogue/catalogue.ts';
import { BUNDLED } from '../../engine/bundled.ts';
import { runCli } from '../../testing/run-cli.ts';

describe('outrider models --catalogue', () => {
  it('lists published models with sizes, licence, drafters, and whether their weights were run', async () => {
    const { status, stdout, stderr } = await runCli('models', '--catalogue');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const { id, licence } of CATALOGUE) expect(stdout).toMatch(new RegExp(`^${id} +.*${licence.name}`, 'm'));
    expect(stdout).toMatch(
      /^gemma-3-1b +target +1\.00 B +Q4_K_M 806 MB .* \(terms\) +draft gemma-3-270m +config read$/m,
    );
  });

  it('prints one JSON array, with the address that --model takes', async () => {
    const all = JSON.parse((await runCli('models', '--catalogue', '--json')).stdout) as Record<string, unknown>[];
    expect(all.map(({ id }) => id)).toEqual(CATALOGUE.map(({ id }) => id));
    for (const entry of all) {
      if (entry.bundled) expect(BUNDLED).toContain(entry.address);
      else expect(entry.address).toMatch(/^https:\/\/huggingface\.co\/[\w.-]+\/[\w./-]+$/);
      expect(['weights', 'config', 'name']).toContain(entry.known);
    }
  });
});
