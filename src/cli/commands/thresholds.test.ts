import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { namesIn } from '../../testing/output-page.ts';
import { callCli, runCli } from '../../testing/run-cli.ts';
import type { BenchReport } from '../bench/compare.ts';
import type { Sweep } from '../bench/sweep.ts';

it.each([
  [['--systems', 'dflash'], 'dflash has no threshold'],
  [['--systems', 'rsd:delta=2'], 'delta must be a number from 0 to 1'],
  [['--journal', 'nowhere/steps.jsonl'], 'cannot write nowhere/steps.jsonl'],
  [['--prompts', 'x', '--suite', 'bundled-math'], '--prompts and --suite are both given'],
  [['--prompts', 'x', '--split', 'held-out'], '--split belongs to --suite'],
  [['--suite', 'copy'], '"copy" is not one of bundled-math, bundled-math-hard'],
])('refuses %j before it opens a device', async (args, message) => {
  const { status, stdout, stderr } = await callCli('thresholds', ...args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('device:');
});

it('says of a threshold what a benchmark at that threshold measures, and goes on from a journal', async () => {
  const args = ['--suite', 'bundled-math', '--limit', '3', '--json'];
  const journal = join(mkdtempSync(join(tmpdir(), 'journal-')), 'steps.jsonl');
  const routers = ['confidence:inner=dflash', 'specguard:k=2:top-p=1:beta=0.3'];
  const choose = ['--systems', `${routers}`, ...args, '--journal', journal];
  const { stdout } = await runCli('thresholds', ...choose);
  const kept = readFileSync(journal, 'utf8');
  appendFileSync(journal, '["cut off');
  expect((await runCli('thresholds', ...choose)).stdout).toBe(stdout);
  expect(readFileSync(journal, 'utf8')).toBe(kept);
  const other = await runCli('thresholds', ...choose, '--max-tokens', '100');
  expect(other).toMatchObject({ status: 2, stdout: '' });
  expect(other.stderr).toContain('holds steps of');
  const report = JSON.parse(stdout) as { systems: Sweep[]; target_accuracy: number };
  const { systems, target_accuracy } = report;
  expect(Object.keys(report).sort()).toEqual(namesIn('of all routers'));
  expect(Object.keys(systems[0] ?? {}).sort()).toEqual(namesIn('of each router'));
  expect(Object.keys(systems[0]?.points[0] ?? {}).sort()).toEqual(namesIn('of each point'));
  const middles = systems.map(({ points }) => points[points.length >> 1] as Sweep['points'][number]);
  const entries = routers.map((router, i) => `${router}:tau=${middles[i]?.threshold}`);
  const bench = await runCli('bench', '--split', 'validation', '--systems', `${entries}`, ...args);
  const [plain, ...routed] = (JSON.parse(bench.stdout) as BenchReport).systems;
  expect(plain?.accuracy).toBe(target_accuracy);
  for (const [i, middle] of middles.entries()) {
    expect(routed[i]?.accuracy).toBe(middle.accuracy);
    expect(routed[i]?.escalation_rate).toBeCloseTo(middle.escalation_rate as number);
    expect(routed[i]?.useless_escalations ?? null).toBe(middle.useless_escalations);
  }
});
