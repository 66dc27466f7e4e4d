// `--remote`: what is refused before anything is loaded, where the key comes from, and a run of the real program.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DecodingSystem } from '../decode/system.ts';
import random from '../systems/random.ts';
import { type CompletionsTestServer, serveCompletions } from '../testing/completions-server.ts';
import { PATIENCE, runCli } from '../testing/run-cli.ts';
import { readRemote } from './remote.ts';

const able = random as DecodingSystem;
const none = { model: undefined, precision: undefined, draft: undefined, drafter: undefined };
const far = { ...none, remote: 'http://localhost:8000', 'remote-model': 'big' };

describe('the options of a remote target', () => {
  it('name a server and its model, both or neither', () => {
    expect(readRemote(none, able)).toBeNull();
    expect(readRemote(far, able)).toMatchObject({ name: 'big' });
    expect(() => readRemote({ ...none, remote: 'http://localhost' }, able)).toThrow('without --remote-model');
    expect(() => readRemote({ ...none, 'remote-model': 'big' }, able)).toThrow('--remote-model is given without');
    expect(() => readRemote({ ...none, 'remote-fall-back': 'draft' }, able)).toThrow('--remote-fall-back is given');
    expect(() => readRemote({ ...far, remote: 'localhost' }, able)).toThrow('address');
  });

  it('go with no target on this machine, nor with a system that needs one', () => {
    expect(() => readRemote({ ...far, model: 'mid' }, able)).toThrow('--model goes with a target on this machine');
    expect(() => readRemote({ ...far, also: ['mid'] }, able)).toThrow('--also goes with');
    expect(readRemote({ ...far, also: [], draft: 'mid' }, able)).not.toBeNull();
    const here = { ...able, id: 'here', remote: undefined } as unknown as DecodingSystem;
    expect(() => readRemote(far, here)).toThrow('here needs its target on this machine');
  });

  it('take the key from the environment, where an empty one is none', () => {
    expect(() => readRemote(far, able, { OUTRIDER_REMOTE_KEY: 'two words' })).toThrow('key');
    expect(readRemote(far, able, { OUTRIDER_REMOTE_KEY: '' })).not.toBeNull();
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

  it('fails with a status and a sentence, or goes on with the draft and says so', async () => {
    server.behave({ key: 'another' });
    const failed = await runCli(...run, '--remote', server.address);
    expect(failed.status).toBe(2);
    expect(failed.stderr).toMatch(/bad-request: .*401: Incorrect API key: \[key\]\n.*OUTRIDER_REMOTE_KEY/);
    const alone = await runCli(...run, '--remote', server.address, '--remote-fall-back', 'draft', '--max-tokens', '8');
    expect(alone.status).toBe(0);
    expect(alone.stderr).toMatch(/warning: .*401.*; the draft goes on alone/);
    expect(alone.stdout.trim()).not.toBe('');
    expect(failed.stdout + failed.stderr + alone.stdout + alone.stderr).not.toContain('sk-secret');
  });
});
