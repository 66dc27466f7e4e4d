import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { bundledDspark } from '../../testing/contract/device-contract.ts';
import { noShared, shared } from '../../testing/goldens/shared.ts';
import { callCli, PATIENCE, runCli, startCli } from '../../testing/run-cli.ts';
import type { TraceEvent } from '../../trace/index.ts';

const events = (stdout: string): TraceEvent[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe.skipIf(noShared)('generate from token ids', PATIENCE, () => {
  const { prompt, greedy } = noShared
    ? { prompt: [], greedy: [] }
    : (JSON.parse(readFileSync(shared('golden/qwen2-tiny/case.json'), 'utf8')) as {
        prompt: number[];
        greedy: number[];
      });
  const base = ['generate', '--model', shared('golden/qwen2-tiny'), '--tokens', prompt.join(',')];

  it('prints one trace event a line, the last with the answer and the metrics', async () => {
    const { status, stdout, stderr } = await runCli(...base, '--max-tokens', '12', '--ignore-eos', '--json');
    expect(status).toBe(0);
    expect(stderr).toContain('device: ');
    expect(stderr).toContain('12 tokens');
    const trace = events(stdout);
    expect(trace[0]).toMatchObject({ type: 'run', system: 'autoregressive', prompt });
    expect(trace.slice(0, -1).every(({ type }) => type !== 'done')).toBe(true);
    expect(trace.at(-1)).toMatchObject({
      type: 'done',
      finish_reason: 'length',
      text: null,
      tokens: greedy.slice(0, 12),
      metrics: { prompt_tokens: 23, tokens: 12, rounds: 11, acceptance_lengths: Array(11).fill(1), readbacks: 12 },
    });
  });

  it('prints ids where the model has no tokenizer', async () => {
    const { status, stdout } = await runCli(...base, '--max-tokens', '3', '--ignore-eos');
    expect(status).toBe(0);
    expect(stdout.trim()).toBe(greedy.slice(0, 3).join(' '));
  });

  it('says which text it cannot take', async () => {
    const model = ['generate', '--model', shared('golden/qwen2-tiny')];
    const { status, stderr } = await callCli(...model, '--prompt', 'x');
    expect(status).toBe(2);
    expect(stderr).toContain('qwen2-tiny has no tokenizer, so it cannot read a text\n  Use --tokens 1,2,3.');
  });
});

describe.skipIf(noShared)('generate with a drafter', PATIENCE, () => {
  it('commits in every round what the reference loop does', async () => {
    const { prefix, runs } = JSON.parse(readFileSync(shared('golden/dflash-tiny-good/case.json'), 'utf8')) as {
      prefix: number[];
      runs: { block_size: number; tokens: number[]; acceptance_lengths: number[] }[];
    };
    const models = ['--model', shared('golden/qwen3-tiny-deep'), '--drafter', shared('golden/dflash-tiny-good')];
    for (const { block_size, tokens, acceptance_lengths } of runs) {
      const size = ['--set', `block-size=${block_size}`, '--max-tokens', `${tokens.length}`];
      const prompt = ['--tokens', prefix.join(',')];
      const { stdout } = await runCli('generate', ...models, '--system', 'dflash', ...size, ...prompt, '--json');
      expect(events(stdout).at(-1)).toMatchObject({ tokens, metrics: { acceptance_lengths } });
    }
    expect(runs.map(({ block_size }) => block_size)).toEqual([8, 4]);
  });
});

describe('generate from text', PATIENCE, () => {
  it.skipIf(!existsSync('/dev/full'))('gives the answer where its notes cannot be written', async () => {
    const asked = 'generate --model draft --prompt "1 + 2" --max-tokens 3';
    const child = spawn('/bin/sh', ['-c', `node src/cli/outrider.mjs ${asked} 2> /dev/full`]);
    const answer = text(child.stdout);
    expect(await once(child, 'close')).toEqual([0, null]);
    expect((await answer).trim()).not.toBe('');
  });

  it('streams text to stdout and nothing else there, the same twice with one seed', async () => {
    const sampled = ['--temperature', '0.9', '--top-k', '40', '--seed', '7', '--max-tokens', '12', '--ignore-eos'];
    const first = await runCli('generate', '--prompt', '1 + 2', ...sampled);
    expect(first.status).toBe(0);
    expect(first.stderr).toMatch(/^12 tokens · prompt \d+ in \d+ ms · .* tokens\/s/m);
    const json = await runCli('generate', '--prompt', '1 + 2', ...sampled, '--json');
    const done = events(json.stdout).at(-1);
    expect(done).toMatchObject({ type: 'done', text: first.stdout.replace(/\n$/, '') });
  });

  it('joins the models that are named, each at its own precision', async () => {
    const ensemble = ['--model', 'mid', '--also', 'draft@q8', '--also', 'mid@q4', '--prompt', '1 + 2', '--json'];
    const { status, stdout } = await runCli('generate', ...ensemble, '--system', 'cos', '--max-tokens', '16');
    expect(status).toBe(0);
    const trace = events(stdout);
    const readers = trace.flatMap((event) => (event.type === 'prefill' ? [event.by] : []));
    expect(readers).toEqual(['target', 'also-1', 'also-2']);
    const votes = trace.flatMap((event) => (event.type === 'commit' ? (event.votes ?? []) : []));
    expect(votes[0]?.own.map(({ by }) => by)).toEqual(readers);
    const plain = await runCli('generate', ...ensemble, '--system', 'ensemble', '--max-tokens', '16');
    expect(events(plain.stdout).at(-1)).toMatchObject({ text: (trace.at(-1) as { text: string }).text });
  });

  it('fills the blocks of blockpilot with a DSpark drafter', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-dspark-'));
    for (const [name, bytes] of bundledDspark().files) writeFileSync(join(folder, name), bytes);
    const asked = ['--prompt', '1 + 2', '--system', 'blockpilot', '--drafter', folder, '--set', 'candidates=1,4'];
    const { status, stderr, stdout } = await runCli('generate', ...asked, '--max-tokens', '8', '--json');
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(events(stdout)[0]).toMatchObject({ type: 'run', knobs: { drafter: 'dspark' } });
  });

  it('loads the drafter of the system that writes the target’s steps', async () => {
    const asked = ['--prompt', '1 + 2', '--system', 'rsd', '--set', 'inner=eagle3', '--set', 'delta=1'];
    const { status, stderr, stdout } = await runCli('generate', ...asked, '--max-tokens', '8', '--json');
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(events(stdout)[0]).toMatchObject({ type: 'run', models: { eagle3: 'eagle3' }, knobs: { inner: 'eagle3' } });
  });

  it('keeps what was generated when it is interrupted, and exits with 130', async () => {
    const long = ['--ignore-eos', '--max-tokens', '900']; // not over when the signal comes
    const { process: child, finished } = startCli(['generate', '--prompt', '1', ...long, '--json']);
    while (!(await once(child.stdout as NodeJS.ReadableStream, 'data')).join('').includes('"commit"'));
    child.kill('SIGINT');
    const { status, stdout, stderr } = await finished;
    expect(status).toBe(130);
    expect(stderr).toContain('interrupted');
    const trace = events(stdout);
    const committed = trace.flatMap((event) => (event.type === 'commit' ? event.tokens : []));
    expect(trace.at(-1)).toMatchObject({ type: 'done', finish_reason: 'aborted', tokens: committed });
    expect(committed.length).toBeGreaterThan(0);
  });

  const schema = join(mkdtempSync(join(tmpdir(), 'outrider-schema-')), 'schema.json');
  writeFileSync(schema, '{"json_schema": {"if": {}}}');

  it.each([
    [[], 'there is no prompt'],
    [['--prompt', 'a', '--tokens', '1'], '--prompt and --tokens are both given'],
    [['--messages', 'f.json', '--raw'], 'it cannot be --raw'],
    [['--prompt', 'a', '--logprobs', '2'], '--logprobs belongs to --json'],
    [['--prompt', 'a', '--system', 'oracular'], '--system: "oracular" is not one of autoregressive'],
    [['--prompt', 'a', '--set', 'gamma'], '--set: "gamma" is not KNOB=VALUE'],
    [['--prompt', 'a', '--system', 'draft-model', '--set', 'gamma=x'], 'a whole number from 0 to 15, not "x"'],
    [['--prompt', 'a', '--system', 'draft-model', '--set', 'gamma='], 'a whole number from 0 to 15, not ""'],
    [
      ['--prompt', 'a', '--system', 'dflash', '--set', 'draft=best'],
      'draft must be one of sampled, greedy, not "best"',
    ],
    [['--prompt', 'a', '--system', 'dflash', '--set', 'size=8'], 'dflash has no knob "size"'],
    [['--prompt', 'a', '--system', 'dflash', '--set', 'block-size=0'], 'a whole number from 1 to 32, not 0'],
    [['--prompt', 'a', '--system', 'dflash', '--set', 'block-size=33'], 'a whole number from 1 to 32, not 33'],
    [['--prompt', 'a', '--system', 'dflash', '--set', 'block-size=17'], 'a whole number from 1 to 16, not 17'],
    [['--model', 'draft', '--prompt', 'a', '--system', 'dflash'], 'the system needs a model for dflash'],
    [
      ['--prompt', 'a', '--system', 'dflash', '--drafter', 'eagle3'],
      'eagle3 is a drafter for eagle3, and the system needs one for dflash',
    ],
    [['--prompt', 'a', '--system', 'dspark'], 'the system needs a model for dspark'],
    [['--model', 'mid', '--prompt', 'a', '--system', 'cos'], 'the system needs a model for draft'],
    [
      ['--prompt', 'a', '--system', 'cos', '--set', 'gamma=1,2,3'],
      'one number, or one for each of the 2 models, not 3',
    ],
    [['--prompt', 'a', '--system', 'cos', '--set', 'lambda=1.5'], 'lambda must be numbers from 0 to 1, not 1.5'],
    [['--prompt', 'a', '--system', 'cos', '--also', 'nowhere'], 'there is no model "nowhere"'],
    [['--prompt', 'a', '--stop', ''], 'stop must be a list of texts that are not empty'],
    [['--prompt', 'a', '--temperature', '1e9'], '--temperature: 1e9 is more than 100'],
    [['--prompt', 'a', '--presence-penalty', '3'], '--presence-penalty: 3 is more than 2'],
    [['--prompt', 'a', '--logit-bias', '42'], '--logit-bias: "42" is not ID=X'],
    [['--prompt', 'a', '--bad-words', '["a"'], '--bad-words: not JSON'],
    [['--prompt-file', 'nowhere.txt'], 'cannot read nowhere.txt'],
    [['--model', 'draft', '--prompt', 'a', '--constraint', schema], 'bad-constraint: '],
    [['--prompt', 'a', '--set', 'gamma=4'], 'autoregressive has no knob "gamma"'],
    [['--prompt', 'a', '--max-tokens', '5000'], 'exceed the context of 1024'],
  ])('exits with 2 on %j', async (args, message) => {
    const { status, stdout, stderr } = await callCli('generate', ...args);
    expect(stderr).toContain(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  const regex = join(mkdtempSync(join(tmpdir(), 'outrider-regex-')), 'regex.json');
  writeFileSync(regex, '{"regex": "a"}');

  it.each([
    [['--tokens', ''], 'the prompt is empty'],
    [['--prompt', 'a', '--logit-bias', '42=101'], 'logitBias[42] must be from -100 to 100, not 101'],
    [['--prompt', 'a', '--logit-bias', '4=1', '--logit-bias', '04=2'], '--logit-bias: token 04 is given twice'],
    [['--prompt', 'a', '--bad-words', '[5]'], 'badWords[0] must be a text or a list of token ids, not 5'],
    [['--prompt', 'a', '--min-tokens', '9', '--max-tokens', '8'], 'minTokens is 9, and maxTokens only 8'],
    [['--prompt', 'a', '--system', 'cos', '--presence-penalty', '1'], 'cos does not take presencePenalty'],
    [['--prompt', 'a', '--system', 'rsd', '--constraint', regex], 'rsd does not support a constraint'],
    [['--prompt', 'a', '--draft', 'nowhere'], 'there is no model "nowhere"'],
    [['--prompt', 'a', '--drafter', 'nowhere'], 'there is no model "nowhere"'],
    [['--prompt', 'a', '--judge', 'nowhere'], 'there is no model "nowhere"'],
  ])('refuses %j before it loads a model', async (args, message) => {
    const { status, stdout, stderr } = await callCli('generate', ...args);
    expect(stderr).toContain(message);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).not.toContain('loaded');
  });
});
