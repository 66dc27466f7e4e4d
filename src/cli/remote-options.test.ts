// `--remote`: what is refused before anything is loaded, where the key comes from, and a run of the real program.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DecodingSystem } from '../decode/core/system.ts';
import random from '../systems/random.ts';
import rsd from '../systems/rsd.ts';
import { PATIENCE, runCli } from '../testing/run-cli.ts';
import { type CompletionsTestServer, serveCompletions } from '../testing/servers/completions-server.ts';
import { pooled, serveJudge } from '../testing/servers/judge-server.ts';
import type { TraceEvent } from '../trace/index.ts';
import type { BenchReport } from './bench/compare.ts';
import { readFar, readRemote } from './remote-options.ts';

const able = random as DecodingSystem;
const none = { model: undefined, precision: undefined, draft: undefined, drafter: undefined };
const far = { ...none, remote: 'http://localhost:8000', 'remote-model': 'big' };

describe('the options of a remote target', () => {
  it('name a server and its model, both or neither', () => {
    expect(readRemote(none, [able])).toBeNull();
    expect(readRemote(far, [able])).toMatchObject({ name: 'big' });
    expect(() => readRemote({ ...none, remote: 'http://localhost' }, [able])).toThrow('without --remote-model');
    expect(() => readRemote({ ...none, 'remote-model': 'big' }, [able])).toThrow('--remote-model is given without');
    expect(() => readRemote({ ...none, 'remote-fall-back': 'draft' }, [able])).toThrow('--remote-fall-back is given');
    expect(() => readRemote({ ...far, remote: 'localhost' }, [able])).toThrow('address');
  });

  it('go with no target on this machine, nor with a system that needs one', () => {
    expect(() => readRemote({ ...far, model: 'mid' }, [able])).toThrow('--model goes with a target on this machine');
    expect(() => readRemote({ ...far, also: ['mid'] }, [able])).toThrow('--also goes with');
    expect(readRemote({ ...far, also: [], draft: 'mid' }, [able])).not.toBeNull();
    const here = { ...able, id: 'here', remote: undefined } as unknown as DecodingSystem;
    expect(() => readRemote(far, [able, here])).toThrow('here needs its target on this machine');
  });

  it('take the key from the environment, where an empty one is none', () => {
    expect(() => readRemote(far, [able], { OUTRIDER_REMOTE_KEY: 'two words' })).toThrow('key');
    expect(readRemote(far, [able], { OUTRIDER_REMOTE_KEY: '' })).not.toBeNull();
  });
});

describe('the options of a remote judge', () => {
  const there = { ...none, 'remote-judge': 'http://localhost:8001', 'remote-judge-model': 'prm' };
  const read = (wanted: object, system: unknown = rsd) =>
    readFar({ ...none, ...wanted }, [system as DecodingSystem], { OUTRIDER_REMOTE_JUDGE_KEY: 'sk-judge' }).judge;

  it('name a server, its model, and how it is asked', () => {
    expect(read({})).toBeNull();
    expect(read(there)).toMatchObject({
      by: 'pooling',
      address: 'http://localhost:8001',
      model: 'prm',
      key: 'sk-judge',
    });
    const asked = { 'remote-judge-words': 'no,yes', 'remote-judge-question': 'Right? ', 'remote-judge-step-end': ' .' };
    expect(read({ ...there, ...asked })).toMatchObject({
      by: 'words',
      words: ['no', 'yes'],
      question: 'Right? ',
      stepEnd: ' .',
    });
    expect(read({ ...there, 'remote-judge-fall-back': 'target' })).toMatchObject({ fallBack: 'target' });
    expect(read(there)).toMatchObject({ fallBack: 'fail' });
  });

  it.each([
    [{ 'remote-judge-model': 'prm' }, '--remote-judge-model is given without --remote-judge'],
    [{ ...there, 'remote-judge-model': undefined }, 'without --remote-judge-model'],
    [{ 'remote-judge-fall-back': 'target' }, '--remote-judge-fall-back is given without --remote-judge'],
    [{ ...there, judge: 'prm' }, '--judge and --remote-judge'],
    [{ ...there, 'remote-judge': 'localhost' }, "the remote's address is not a URL"],
    [{ ...there, 'remote-judge': 'localhost:8000' }, "the remote's address is neither http nor https"],
    [{ ...there, 'remote-judge-words': 'yes' }, 'the word against'],
    [{ ...there, 'remote-judge-question': 'Right?' }, 'without --remote-judge-words'],
  ])('refuse %j', (wanted, message) => {
    expect(() => read(wanted)).toThrow(message);
  });

  it('go with systems that ask one', () => {
    expect(() => read(there, random)).toThrow('random asks no judge');
  });
});

describe('a run with a remote target', PATIENCE, () => {
  const run = [
    'generate',
    '--system',
    'random',
    '--set',
    'share=1',
    '--prompt',
    'Six and seven?',
    '--remote-model',
    'big',
  ];
  let server: CompletionsTestServer;
  beforeAll(async () => {
    server = await serveCompletions();
    process.env.OUTRIDER_REMOTE_KEY = 'sk-secret';
  });
  afterAll(async () => {
    delete process.env.OUTRIDER_REMOTE_KEY;
    await server[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    server.asked.length = 0;
  });

  it('prints what the server wrote, and the key nowhere', async () => {
    server.behave({
      says: (prompt) => (prompt.endsWith('\n\n') ? ['13.'] : ['Add', ' them.', '\n\n']),
      key: 'sk-secret',
    });
    const { status, stdout, stderr } = await runCli(...run, '--remote', server.address, '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) as string)).toMatchObject({ text: 'Add them.\n\n13.' });
    expect(server.asked.map(({ authorization }) => authorization)).toEqual(['Bearer sk-secret', 'Bearer sk-secret']);
    expect(server.asked[0]?.body.prompt).toBe('<bos><user>Six and seven?<assistant>');
    expect(stdout + stderr).not.toContain('sk-secret');
  });

  it('is measured like any other, next to plain decoding of the draft', async () => {
    server.behave({ says: () => ['The answer is 42.'] });
    const from = ['--suite', 'bundled-math', '--offset', '598', '--limit', '5', '--max-tokens', '60'];
    const far = ['--remote', server.address, '--remote-model', 'big'];
    const { status, stdout } = await runCli('bench', ...from, ...far, '--systems', 'random:share=1', '--json');
    expect(status).toBe(0);
    const { systems, ...report } = JSON.parse(stdout) as BenchReport;
    expect(report).toMatchObject({ remote: 'big', prompts: 2, model: { name: 'draft' } });
    expect(systems.map(({ system }) => system)).toEqual(['autoregressive', 'random:share=1']);
    // One prompt to warm up, then both.
    expect(server.asked).toHaveLength(3);
    expect(systems[1]).toMatchObject({ escalation_rate: 1 });
    const refused = await runCli('bench', ...far, '--systems', 'dflash');
    expect(refused.stderr).toContain('dflash needs its target on this machine');
  });

  it('asks a remote judge about every step of the draft, and shows it the question without a template', async () => {
    server.behave({ says: () => ['13.'] });
    await using judge = await serveJudge();
    judge.answer = () => pooled([0.2]);
    const far = ['--remote', server.address, '--remote-model', 'big', '--remote-judge', judge.address];
    const messages = join(mkdtempSync(join(tmpdir(), 'outrider-judge-')), 'messages.json');
    const said = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Six and seven?' },
    ];
    writeFileSync(messages, JSON.stringify(said));
    const args = ['--remote-judge-model', 'prm', '--messages', messages, '--json'];
    const { status, stdout } = await runCli('generate', '--system', 'rsd', ...far, ...args);
    expect(status).toBe(0);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as TraceEvent);
    expect(events.filter(({ type }) => type === 'route')).toMatchObject([{ by: 'prm', to: 'target', score: 0.2 }]);
    expect(events.at(-1)).toMatchObject({ text: '13.' });
    expect(judge.asked.map(({ body }) => String(body.input).split('\n')[0])).toEqual(['Six and seven?']);
  });

  it('fails with a status and a sentence, or goes on with the draft and says so', async () => {
    server.behave({ key: 'another' });
    const failed = await runCli(...run, '--remote', server.address);
    expect(failed.status).toBe(1); // the run had begun: a server's refusal is no wrong argument
    expect(failed.stderr).toMatch(/bad-request: .*401: Incorrect API key: \[key\]\n.*OUTRIDER_REMOTE_KEY/);
    const alone = await runCli(...run, '--remote', server.address, '--remote-fall-back', 'draft', '--max-tokens', '8');
    expect(alone.status).toBe(0);
    expect(alone.stderr).toMatch(/warning: .*401.*; the draft goes on alone/);
    expect(alone.stdout.trim()).not.toBe('');
    expect(failed.stdout + failed.stderr + alone.stdout + alone.stderr).not.toContain('sk-secret');
  });
});
