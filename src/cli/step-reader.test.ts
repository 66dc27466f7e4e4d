// A draft of another vocabulary than the target's, in commands that run step systems: they read, judge and print its
// tokens.
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { toyLoaded } from '../testing/contract/system-contract.ts';
import { PATIENCE, runCli } from '../testing/run-cli.ts';
import { pooled, serveJudge } from '../testing/servers/judge-server.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import type { TraceEvent } from '../trace/index.ts';
import type { BenchReport } from './bench/compare.ts';
import { stepReaderOf } from './step-reader.ts';

it('step systems decode the tokens of a draft that has another vocabulary', () => {
  const toy = (vocabulary: number) => toyLoaded(toyModel({ vocabulary, sharpness: 1 }));
  const [target, draft] = [toy(9), toy(10)];
  expect(stepReaderOf({ target, draft })).toBe(draft);
  expect(stepReaderOf({ target, draft: toy(9) })).toBe(target);
  expect(stepReaderOf({ target })).toBe(target);
});

const bundled = (file: string): URL => new URL(`../../public/models/draft/${file}`, import.meta.url);
const json = (file: string) => JSON.parse(readFileSync(bundled(file), 'utf8'));

/** The bundled draft without a chat template, and with its ids in reverse: it writes nonsense. */
const reversed = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-reversed-'));
  for (const file of ['config.json', 'generation_config.json', 'model.safetensors'])
    copyFileSync(bundled(file), join(folder, file));
  const tokenizer = json('tokenizer.json');
  const specials: number = tokenizer.added_tokens.length; // the first ids
  const entries = Object.entries(tokenizer.model.vocab as Record<string, number>);
  const last = Math.max(...entries.map(([, id]) => id));
  tokenizer.model.vocab = Object.fromEntries(
    entries.map(([entry, id]) => [entry, id < specials ? id : specials + last - id]),
  );
  const { chat_template: _, ...config } = json('tokenizer_config.json');
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(config));
  return folder;
};

describe('a draft with its ids in reverse', PATIENCE, () => {
  let draft: string;
  beforeAll(() => {
    draft = reversed();
  });
  const question = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
  const asked = ['--prompt', `<bos><user>${question}<assistant>`];
  // Every step is escalated, and the target is good at this.
  const routed = ['generate', '--system', 'rsd', '--set', 'delta=1', '--set', 'step-tokens=40', ...asked];

  it('is judged and printed in its own tokens', async () => {
    const { status, stdout, stderr } = await runCli(...routed, '--draft', draft, '--judge', draft);
    expect(stderr).toContain('has no chat template; the prompt is continued as it is');
    expect(status).toBe(0);
    expect(stdout).toContain('The answer is 84.');
  });

  it('has its steps and those of the target marked where they begin', async () => {
    const steps = ['--set', 'share=0.5', '--set', 'step-tokens=12', '--seed', '5', '--max-tokens', '60'];
    const mixed = ['generate', '--system', 'random', ...steps, ...asked, '--draft', draft];
    const { stdout } = await runCli(...mixed, '--json');
    const commits = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as TraceEvent)
      .filter((event) => event.type === 'commit');
    const marks = { drafted: '+', routed: '!' } as Readonly<Record<string, string>>;
    expect(new Set(commits.map(({ source: [source] }) => source))).toEqual(new Set(['drafted', 'routed']));
    const marked = commits.map(({ source: [source = ''], text }) => (text ? `${marks[source] ?? ''}${text}` : ''));
    expect((await runCli(...mixed, '--marks')).stdout.trimEnd()).toBe(marked.join('').trimEnd());
  });

  it('is judged on a server by its own text', async () => {
    await using judge = await serveJudge();
    judge.answer = () => pooled([0.2]);
    const there = ['--remote-judge', judge.address, '--remote-judge-model', 'prm'];
    const { status } = await runCli(...routed, '--draft', draft, ...there);
    expect(status).toBe(0);
    expect(String(judge.asked[0]?.body.input).split('\n')[0]).toBe(question);
  });

  it('reads prompts without the chat template of the target, which has its own', async () => {
    const few = ['--draft', draft, '--limit', '2', '--max-tokens', '4', '--json'];
    const bench = await runCli('bench', '--systems', 'draft-only', '--repeat', '1', ...few);
    expect(bench.status).toBe(0);
    const { systems } = JSON.parse(bench.stdout) as BenchReport;
    expect(systems.map(({ system }) => system)).toEqual(['autoregressive', 'draft-only']);
    const thresholds = await runCli('thresholds', '--systems', 'confidence:tau=-1', ...few);
    expect(thresholds.status).toBe(0);
  });
});
