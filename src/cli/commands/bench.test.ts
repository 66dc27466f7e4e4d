import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namesIn } from '../../testing/output-page.ts';
import { callCli, runCli } from '../../testing/run-cli.ts';
import type { BenchReport } from '../bench/compare.ts';

const prompts = (content: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'outrider-bench-')), 'prompts.jsonl');
  writeFileSync(path, content);
  return path;
};

describe('bench', () => {
  it.each([
    [['--suite', 'bundled-math', '--prompts', 'x'], '--prompts and --suite are both given'],
    [['--category', 'a'], '--category belongs to --prompts'],
    [['--suite', 'bundled-math', '--answers'], '--answers belongs to --prompts'],
    [['--prompts', 'nowhere.jsonl'], 'cannot read nowhere.jsonl'],
    [['--prompts', prompts('\n')], 'has no prompts'],
    [['--prompts', prompts('{"q": 1}')], 'prompts.jsonl:1 has no prompt'],
    [['--constraint', prompts('no JSON')], 'prompts.jsonl: not JSON'],
    [['--constraint', prompts('{"regex": 5}')], 'bad-constraint: regex must be a text that is not empty'],
    [['--document', 'nowhere.txt'], 'cannot read nowhere.txt'],
    [['--suite', 'chess'], '"chess" is not one of bundled-math'],
    [['--against', 'rsd'], 'rsd is not among the systems'],
    [['--offset', '4'], '--offset 4 leaves out all 4 prompts'],
    [['--temperature', '101'], '--temperature: 101 is more than 100'],
    [['--prompts', prompts('{"tokens": []}')], 'the prompt is empty'],
    [['--prompts', prompts('{"tokens": ["a"]}')], 'prompt.tokens must be a list of token ids'],
    [['--systems', 'rsd', '--constraint', prompts('{"regex": "a"}')], 'rsd does not support a constraint'],
  ])('refuses %j before it opens a device', async (args, message) => {
    const { status, stdout, stderr } = await callCli('bench', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('device:');
  });

  it('takes --offset and --limit of the default prompts too, and writes whole numbers', async () => {
    const few = ['--offset', '1', '--limit', '2', '--max-tokens', '4', '--repeat', '1'];
    const { status, stdout } = await runCli('bench', '--model', 'draft', ...few);
    expect(status).toBe(0);
    expect(stdout).toContain('2 prompts, 1 run each; ');
    expect(stdout).not.toMatch(/\de\+\d/);
  });

  it('stops where the model ends an answer, if it is told to', async () => {
    const few = ['--limit', '1', '--max-tokens', '160', '--repeat', '1', '--json'];
    const tokensOf = async (...more: string[]) => {
      const { stdout } = await runCli('bench', '--model', 'draft', ...few, ...more);
      return (JSON.parse(stdout) as BenchReport).systems[0]?.prompts[0]?.tokens?.median;
    };
    expect(await tokensOf()).toBe(160);
    expect(await tokensOf('--stop-at-end')).toBeLessThan(160);
  });

  it('takes a constraint, a document and a precision of the cache, as generate does', async () => {
    const few = ['--systems', 'suffix-decoding', '--limit', '1', '--max-tokens', '40', '--repeat', '1', '--json'];
    const constraint = prompts('{"choice": ["Ida has 84 stones.", "Ida has 85 stones."]}');
    const document = prompts('Ida has 85 stones.');
    const asked = ['--kv', 'q8', '--constraint', constraint, '--document', document];
    const { status, stdout } = await runCli('bench', '--model', 'draft', ...few, ...asked);
    expect(status).toBe(0);
    const { cache, systems } = JSON.parse(stdout) as BenchReport;
    expect(cache).toBe('q8');
    expect(systems.map(({ lossless }) => lossless)).toEqual([true, true]);
    // All but one of the answer's tokens follow from the choices.
    for (const { passes_per_token: passes } of systems) expect(passes).toBeLessThan(1);
  });

  it('gives no accuracy where every answer was cut off, and says so', async () => {
    const args = ['--model', 'draft', '--suite', 'bundled-math', '--limit', '1', '--max-tokens', '4', '--json'];
    const { stdout, stderr } = await runCli('bench', ...args);
    expect((JSON.parse(stdout) as BenchReport).systems[0]?.accuracy).toBeNull();
    expect(stderr).toContain('1 of 1 answers were cut off by --max-tokens');
  });

  it('reports on the bundled draft with a suite: one JSON object with every figure, as its page says', async () => {
    const args = ['--model', 'draft', '--suite', 'bundled-math', '--limit', '3', '--max-tokens', '99', '--repeat', '2'];
    const more = ['--systems', 'prompt-lookup', '--against', 'autoregressive', '--profile', '--json'];
    const { status, stdout } = await runCli('bench', ...args, ...more);
    expect(status).toBe(0);
    const report = JSON.parse(stdout) as BenchReport;
    expect(Object.keys(report.verify_cost)).toEqual(['1', '2', '4', '8', '12', '16']);
    expect(report).toMatchObject({ prompts: 3, repeat: 2, model: { family: 'qwen3' } });
    expect([...Object.keys(report), 'remote'].sort()).toEqual(namesIn('of the whole'));
    const [plain, lookup] = report.systems;
    expect(Object.keys(lookup ?? {}).sort()).toEqual(namesIn('of each system'));
    expect(Object.keys(plain?.prompts[0] ?? {}).sort()).toEqual(namesIn('of each prompt'));
    expect(plain).toMatchObject({
      system: 'autoregressive',
      lossless: true,
      submits_per_token: 1,
      readbacks_per_token: 1,
    });
    expect(plain?.accuracy).toBeGreaterThanOrEqual(0);
    expect(plain?.accuracy).toBeLessThanOrEqual(1);
    expect(plain?.intervals).toMatchObject({ accuracy_ratio: [1, 1], speedup: [1, 1], total_speedup: [1, 1] });
    expect(plain?.intervals.accuracy).toHaveLength(2);
    expect(plain?.whole_answers).toMatchObject({ speedup: plain?.answer_speedup, total_speedup: 1 });
  });
});
