import { describe, expect, it } from 'vitest';
import { SYSTEMS } from '../../systems/index.ts';
import { callCli } from '../../testing/run-cli.ts';

describe('outrider systems', () => {
  it('lists every system by group, and all of one', async () => {
    const { status, stdout, stderr } = await callCli('systems');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const { id, title } of SYSTEMS)
      expect(stdout).toMatch(new RegExp(`^  ${id} +${title.replace(/[()]/g, '.')} · `, 'm'));
    expect(stdout).toMatch(/^Speculative decoding$/m);
    const one = await callCli('systems', 'rsd');
    expect(one.stdout).toMatch(/^guarantee +approximate/m);
    expect(one.stdout).toMatch(/^escalates +steps that score below delta$/m);
    expect(one.stdout).toMatch(/^delta +number +0\.9 +0 to 1, in steps of 0\.01 /m);
  });

  it('prints one JSON array', async () => {
    const all = JSON.parse((await callCli('systems', '--json')).stdout) as Record<string, unknown>[];
    expect(all.map(({ id }) => id)).toEqual(SYSTEMS.map(({ id }) => id));
    for (const system of all)
      expect(Object.keys(system)).toEqual(expect.arrayContaining(['title', 'group', 'paper', 'guarantee', 'needs']));
    const [one, ...others] = JSON.parse((await callCli('systems', 'dflash', '--json')).stdout);
    expect(others).toEqual([]);
    expect(one).toMatchObject({ guarantee: 'exact', baseline: 'autoregressive', needs: ['target', 'dflash'] });
    expect(one.knobs['block-size']).toMatchObject({ kind: 'number', min: 1, max: 32, default: 16 });
    expect(one.knobs.draft).toMatchObject({ kind: 'choice', options: ['sampled', 'greedy'], default: 'sampled' });
  });

  it('names the nearest of an unknown one', async () => {
    const { status, stdout, stderr } = await callCli('systems', 'specgard');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('there is no system "specgard"');
    expect(stderr).toContain('The nearest is specguard');
  });
});
