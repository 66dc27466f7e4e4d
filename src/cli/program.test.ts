// The command line from outside: what it prints where, and how it exits. Commands that need a device are in
// commands/*.test.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { callCli, runCli, startCli } from '../testing/run-cli.ts';
import { tinyMtp, tinyMtpGguf } from '../testing/toys/tiny-mtp.ts';

const scratch = mkdtempSync(join(tmpdir(), 'outrider-cli-'));
const file = (name: string, content: string | Uint8Array): string => {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
};

describe('the program', () => {
  const utf16 = file('utf-16.json', Buffer.from('\ufeff[]', 'utf16le'));

  it('explains itself on stdout, and each command too', async () => {
    const { status, stdout, stderr } = await callCli('--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const commands = [...stdout.matchAll(/^ {2}(\w+) {2}/gm)].map(([, name]) => name as string);
    expect(commands).toContain('generate');
    for (const command of commands) {
      const page = await callCli(command, '--help');
      expect(page.status).toBe(0);
      expect(page.stdout).toMatch(new RegExp(`^outrider ${command} `));
      expect(page.stdout).toContain('--json');
    }
    expect((await callCli('help')).stdout).toBe(stdout);
    expect((await callCli('help', 'chat')).stdout).toBe((await callCli('chat', '--help')).stdout);
  });

  it.each([
    [['-h'], 'unknown option -h', 'The nearest is --help'],
    [['tokenise'], 'unknown command tokenise', 'The nearest is tokenize'],
    [['tokenize', '--txt', 'x'], 'unknown option --txt', 'The nearest is --text'],
    [['tokenize', 'A cup'], 'unexpected argument "A cup"', 'outrider tokenize [--model M] (--text T'],
    [['tokenize'], 'tokenize needs one of --text, --ids and --file', ''],
    [
      ['tokenize', '--text', 'a', '--model', 'nowhere'],
      'there is no model "nowhere"',
      'bundled (blockpilot, dflash, draft, draft-judge, eagle3, mid, prm, router, smollm2-eagle3, target)',
    ],
    [['tokenize', '--ids', '1', '--special'], '--special belongs to --text and --file', ''],
    [['inspect'], 'inspect needs PATH', ''],
    [['logits', '--tokens', '1,2', '--parents', '-1,1'], 'node 1 names 1 as its parent; an earlier node or -1', ''],
    [['chat', '--messages', utf16], `${utf16} is not UTF-8`, ''],
    [['chat', '--messages', 'nowhere.json'], 'cannot read nowhere.json', ''],
  ])('exits with 2 on %j', async (args, message, hint) => {
    const { status, stdout, stderr } = await callCli(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(`outrider: bad-request: ${message}`);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain('device:'); // nor was a model loaded
  });

  it('tells errors as one JSON line under --json', async () => {
    const { status, stdout, stderr } = await runCli('tokenize', '--json', '--txt', 'x');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    const { error } = JSON.parse(stderr);
    expect(Object.keys(error)).toEqual(['code', 'message', 'hint']);
    expect(error).toMatchObject({ code: 'bad-request', message: 'unknown option --txt' });
  });

  it('exits with 1 when a checkpoint is bad', async () => {
    const path = file('bad.gguf', 'not a model at all');
    const { status, stdout, stderr } = await runCli('inspect', path, '--json');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(JSON.parse(stderr).error.code).toBe('bad-checkpoint');
  });

  it('ends quietly when the reader of its output has left', async () => {
    const { process: child, finished } = startCli(['inspect', 'target']);
    child.stdout?.destroy();
    const { status, stderr } = await finished;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe.skipIf(!existsSync('/dev/full'))('a full disk', () => {
  it('is told as what it is', async () => {
    const child = spawn('/bin/sh', ['-c', 'node src/cli/outrider.mjs tokenize --text a > /dev/full']);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [status] = await once(child, 'close');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^outrider: bad-request: cannot write to stdout: ENOSPC[^\n]*\n {2}Is the disk full\?\n$/);
  });
});

describe('tokenize', () => {
  it('encodes and decodes with the bundled tokenizer', async () => {
    const { status, stdout, stderr } = await runCli('tokenize', '--text', '<user>1 + 2');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { ids, text } = JSON.parse(stdout);
    expect(text).toBe('<user>1 + 2');
    const back = await runCli('tokenize', '--ids', ids.join(','));
    expect(JSON.parse(back.stdout)).toEqual({ ids, text });
  });

  it('encodes a text a line', async () => {
    const lines = [JSON.stringify('<user>1 + 2'), JSON.stringify({ text: 'a\nb' }), '""'];
    const path = file('texts.jsonl', `${lines.join('\n')}\n`);
    const ids = async (...more: string[]): Promise<number[][]> => {
      const { stdout } = await callCli('tokenize', '--file', path, '--json', ...more);
      return stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).ids);
    };
    const plain = await ids();
    const single = await callCli('tokenize', '--text', '<user>1 + 2');
    expect(plain).toHaveLength(3);
    expect(plain[0]).toEqual(JSON.parse(single.stdout).ids);
    expect(plain[2]).toEqual([]);
    expect(await ids('--special')).toEqual(plain); // this tokenizer puts nothing around a text
    const odd = await callCli('tokenize', '--file', file('odd.jsonl', '"a"\n7\n'));
    expect(odd.status).toBe(2);
    expect(odd.stderr).toContain('line 2 holds no text');
  });

  it.skipIf(noShared)('needs no weights, and adds a BOS on request', async () => {
    const model = shared('golden/vocab/ggml-vocab-llama-spm.gguf');
    const { stdout } = await callCli('tokenize', '--model', model, '--text', 'Hello world', '--special');
    expect(JSON.parse(stdout)).toEqual({ ids: [1, 15043, 3186], text: '<s> Hello world' });
    const plain = await callCli('tokenize', '--model', model, '--text', 'Hello world');
    expect(JSON.parse(plain.stdout)).toEqual({ ids: [15043, 3186], text: 'Hello world' });
    const refused = await callCli('inspect', model);
    expect(refused.stderr).toContain('holds a tokenizer and no weights');
  });

  it.skipIf(noShared)('serves ids without a tokenizer, and says what text would need', async () => {
    const model = shared('golden/llama-tiny');
    const { stdout } = await callCli('tokenize', '--model', model, '--ids', '1,2');
    expect(JSON.parse(stdout)).toEqual({ ids: [1, 2], text: null });
    const refused = await callCli('tokenize', '--model', model, '--text', 'a');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('llama-tiny has no tokenizer');
    const outside = await callCli('tokenize', '--ids', '1,100000000');
    expect([outside.status, outside.stderr]).toEqual([
      2,
      expect.stringContaining('100000000 is outside the vocabulary'),
    ]);
  });
});

describe('chat', () => {
  it('shows the prompt that a conversation becomes', async () => {
    const messages = [
      { role: 'user', content: '1 + 2' },
      { role: 'assistant', content: '3' },
      { role: 'user', content: '+ 4' },
    ];
    const expected = '<bos><user>1 + 2<assistant>3<eos><user>+ 4<assistant>';
    const parts = messages.map(({ role, content }) => ({
      role,
      content: [...content].map((text) => ({ type: 'text', text })),
    }));
    // Also as some editors write it, with a byte-order mark.
    for (const content of [
      JSON.stringify(messages),
      `\ufeff${JSON.stringify({ messages })}\r\n`,
      JSON.stringify(parts),
    ]) {
      const { status, stdout } = await callCli('chat', '--messages', file('chat.json', content));
      expect(status).toBe(0);
      expect(JSON.parse(stdout).prompt).toBe(expected);
    }
  });

  const toolsFolder = (name: string, template: string): string => {
    const folder = mkdtempSync(join(scratch, name));
    for (const file of ['tokenizer.json', 'tokenizer_config.json'])
      copyFileSync(new URL(`../../public/models/target/${file}`, import.meta.url), join(folder, file));
    const config = JSON.parse(readFileSync(join(folder, 'tokenizer_config.json'), 'utf8'));
    writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ ...config, chat_template: template }));
    return folder;
  };
  /** Arguments as OpenAI writes them. */
  const calling = (args: unknown) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: '<eos>', type: 'function', function: { name: 'f', arguments: args } }],
  });

  it('hands tools, documents and a message without content to the template', async () => {
    const folder = toolsFolder(
      'tools-',
      '{{ tools | tojson }}{% for m in messages %}{{ m.role }}{{ m.tool_calls | default([]) | tojson }}{% endfor %}' +
        '{{ documents | tojson }}{{ messages[0].content is none }}{{ add_generation_prompt }}',
    );
    const messages = [{ role: 'assistant', content: null, tool_calls: [{ id: '<eos>', 1: 5 }] }];
    const conversation = { messages, tools: [{ name: 'f' }], documents: [1], add_generation_prompt: false };
    // A number with a fraction is a float, as Python reads it, next to a text that is a special token too.
    const path = file('tools.json', JSON.stringify(conversation).replace(':5', ':5.0'));
    const { stdout } = await callCli('chat', '--model', folder, '--messages', path);
    expect(JSON.parse(stdout).prompt).toBe('[{"name": "f"}]assistant[{"1": 5.0, "id": "<eos>"}][1]TrueFalse');
    const { status, stderr } = await callCli('generate', '--messages', path);
    expect(status).toBe(2);
    expect(stderr).toContain('tools and documents cannot be used here');
  });

  it('gives the template an empty list of tools, and none where there is none', async () => {
    const folder = toolsFolder('empty-', '{{ tools is none }} {{ tools }} {{ messages[0].content }}');
    const messages = [{ role: 'user', content: 'a' }];
    const prompts: string[] = [];
    for (const tools of [[], undefined, null]) {
      const path = file('empty-tools.json', JSON.stringify({ messages, tools }));
      prompts.push(JSON.parse((await callCli('chat', '--model', folder, '--messages', path)).stdout).prompt);
    }
    expect(prompts).toEqual(['False [] a', 'True None a', 'True None a']);
  });

  it('shows calls and tools as the engine gives them to the template, where that is asked for', async () => {
    const messages = [{ role: 'user', content: 'Go.' }, calling('{"a": 1}'), { role: 'tool', content: '2' }];
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
    const path = file('calls.json', JSON.stringify({ messages, tools }));
    const folder = toolsFolder(
      'calls-',
      '{# tools: <tool_call> #}{% for m in messages %}{{ m.tool_calls | default(m.content) | tojson }}{% endfor %}',
    );
    const { stdout } = await callCli('chat', '--as-sent', '--model', folder, '--messages', path);
    expect(JSON.parse(stdout).prompt).toContain('{"name": "f", "arguments": {"a": 1}}');
    // This template knows neither tools nor their results.
    const { stdout: plain } = await callCli('chat', '--as-sent', '--messages', path);
    const { prompt } = JSON.parse(plain);
    expect(prompt).toContain('These are their signatures, in <tools></tools>:\n<tools>\n{"type":"function"');
    expect(prompt).toContain('<assistant><tool_call>\n{"name": "f", "arguments": {"a":1}}\n</tool_call><eos>');
    expect(prompt).toContain('<user><tool_response>\n2\n</tool_response><assistant>');
  });

  it('shows a prompt that no answer begins in, which generate refuses', async () => {
    const messages = [{ role: 'user', content: '1 + 2' }];
    const path = file('unanswered.json', JSON.stringify({ messages, add_generation_prompt: false }));
    const { stdout } = await callCli('chat', '--messages', path);
    expect(JSON.parse(stdout).prompt).toBe('<bos><user>1 + 2');
    const { status, stderr } = await callCli('generate', '--messages', path);
    expect(status).toBe(2);
    expect(stderr).toContain('add_generation_prompt false cannot be used here');
    expect(stderr).not.toContain('device:');
  });

  it.each([
    ['{', 'not JSON'],
    ['[]', 'not a list of messages'],
    ['[5]', 'odd.json: message 0 must be an object { "role", "content" }, not 5'],
    ['[{"content": "a"}]', 'odd.json: message 0.role must be text, not undefined'],
    ['[{"role": "user"}]', 'message 0.content must be text'],
    ['[{"role": "assistant", "content": null, "tool_calls": []}]', 'message 0.content must be text'],
    ['[{"role": "user", "content": [{"type": "image_url"}]}]', 'message 0.content[0] is of type "image_url"'],
    ['[{"role": "wizard", "content": ""}]', 'unknown role wizard'],
    ['[{"role": "assistant", "content": "", "tool_calls": [{}]}]', 'tool_calls must be a list of { function'],
    ['{"messages": [{"role": "user", "content": ""}], "tools": [null]}', 'tools.functions[0] must be an object'],
  ])('refuses %s', async (content, message) => {
    const { status, stderr } = await callCli('chat', '--as-sent', '--messages', file('odd.json', content));
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('inspect and models', () => {
  it('lists the bundled models', async () => {
    const { stdout } = await callCli('models', '--json');
    const models = JSON.parse(stdout) as { model: string; family: string; parameters: number | null; bytes: number }[];
    expect(models.map(({ model, family }) => [model, family])).toEqual([
      ['blockpilot', 'blockpilot'],
      ['dflash', 'dflash'],
      ['draft', 'qwen3'],
      ['draft-judge', 'qwen3'],
      ['eagle3', 'eagle3'],
      ['mid', 'qwen3'],
      ['prm', 'qwen3'],
      ['router', 'qwen3'],
      ['smollm2-eagle3', 'eagle3'],
      ['target', 'qwen3'],
    ]);
    expect(models.every(({ bytes }) => bytes > 1e5)).toBe(true);
    // The policy is an ONNX file, which has no header to count in.
    expect(models.every(({ parameters }, i) => (i === 0 ? parameters === null : Number(parameters) > 1e5))).toBe(true);
    expect((await callCli('models')).stdout).toMatch(/^blockpilot +blockpilot +a policy +147 KiB$/m);
  });

  it.skipIf(noShared)('reads sizes, types and memory off the headers', async () => {
    const { stdout } = await callCli('inspect', shared('golden/gguf-llama-tiny/llama-tiny.Q8_0.gguf'), '--json');
    const it = JSON.parse(stdout);
    expect(it).toMatchObject({ format: 'gguf', family: 'llama', unsupported: null, head: 'tied' });
    expect(it.sizes).toMatchObject({ layers: 3, hidden: 96, heads: 6, keyValueHeads: 2, vocabulary: 320 });
    expect(it.types).toEqual({ F32: { tensors: 8, bytes: 2720 }, Q8_0: { tensors: 22, bytes: 257856 } });
    expect(it.tensors).toContainEqual({
      name: 'model.layers.2.mlp.up_proj.weight',
      type: 'Q8_0',
      shape: [160, 96],
      bytes: 16320,
    });
    const resident = Object.fromEntries(
      it.resident.map(({ precision, weights }: { precision: string; weights: number }) => [precision, weights]),
    );
    expect(resident.file).toBe(resident.q8);
    expect(resident.f32).toBeGreaterThan(resident.f16);
    expect(resident.q8).toBeGreaterThan(resident.q4);
  });

  it.skipIf(noShared)('describes drafters: what they borrow of their target is not counted', async () => {
    const { stdout } = await callCli('inspect', shared('golden/dflash-tiny'), '--json');
    const it = JSON.parse(stdout);
    expect(it).toMatchObject({ family: 'dflash', drafter: true, unsupported: null, head: 'target' });
    expect(it.sizes).toMatchObject({ layers: 2, hidden: 64, vocabulary: 331, context: 512 });
    // Every weight in f32, rows padded to 16, and no embedding: 331 × 64 would be 84 736 bytes more.
    expect(it.resident[0].weights - it.bytes).toBeLessThan(4096);
    const eagle = await callCli('inspect', shared('golden/eagle3-tiny'));
    expect(eagle.stdout).toMatch(/family +eagle3 \(LlamaForCausalLMEagle3\)/);
    expect(eagle.stdout).toMatch(/head +own/);
  });

  it.skipIf(noShared)('describes a judge', async () => {
    const { status, stdout } = await callCli('inspect', shared('golden/token-classification-tiny'));
    expect(status).toBe(0);
    expect(stdout).toMatch(/family +qwen2 \(Qwen2ForTokenClassification\)/);
    expect(stdout).toMatch(/head +a judge's/);
    expect(stdout).toContain('score.weight');
  });

  it('says that a drafter is built in of a whole model, and not of its MTP layer alone', async () => {
    const folder = mkdtempSync(join(scratch, 'mtp-'));
    for (const source of [tinyMtp().source, tinyMtpGguf()])
      if (source.kind === 'bytes') for (const [name, bytes] of source.files) writeFileSync(join(folder, name), bytes);
    const whole = await callCli('inspect', folder);
    expect(whole).toMatchObject({ status: 0, stdout: expect.stringMatching(/^drafter +built in: --system mtp$/m) });
    const alone = await callCli('inspect', join(folder, 'mtp-tiny.gguf'));
    expect(alone).toMatchObject({ status: 1, stdout: expect.stringContaining('not supported: ') });
    expect(alone.stdout).not.toContain('built in');
    expect(alone.stderr).toContain('load the model as `target`, and this as `mtp`');
  });

  it('plans nothing for a config that its tensors contradict', async () => {
    const folder = mkdtempSync(join(scratch, 'hollow-'));
    const target = new URL('../../public/models/target/config.json', import.meta.url);
    copyFileSync(target, join(folder, 'config.json'));
    const header = JSON.stringify({ a: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } });
    const length = new Uint8Array(new BigUint64Array([BigInt(header.length)]).buffer);
    writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, Buffer.from(header), Buffer.alloc(4)]));
    const { status, stdout } = await callCli('inspect', folder, '--json');
    expect(status).toBe(1);
    const unsupported = 'tensor model.embed_tokens.weight is missing';
    expect(JSON.parse(stdout)).toMatchObject({ family: null, unsupported, resident: [], cache: [] });
  });

  it.skipIf(noShared)('describes what it cannot run, and says why', async () => {
    const config = JSON.parse(readFileSync(shared('golden/llama-tiny/config.json'), 'utf8'));
    const folder = mkdtempSync(join(scratch, 'falcon-'));
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, architectures: ['FalconForCausalLM'] }));
    copyFileSync(shared('golden/llama-tiny/model.safetensors'), join(folder, 'model.safetensors'));
    const { status, stdout, stderr } = await callCli('inspect', folder);
    expect(status).toBe(1);
    expect(stdout).toContain('not supported: architecture FalconForCausalLM');
    expect(stdout).toContain('model.norm.weight');
    expect(stderr).toContain(
      'outrider: bad-checkpoint: architecture FalconForCausalLM is not supported\n  Supported: ',
    );
    const json = await callCli('inspect', folder, '--json');
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout).unsupported).toBe('architecture FalconForCausalLM is not supported');
    expect(JSON.parse(json.stderr).error.hint).toContain('Supported: ');
  });
});
