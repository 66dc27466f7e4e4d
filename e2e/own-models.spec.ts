// The visitor's own models, by role: what they would take is shown before they are downloaded, also for a model that
// does not fit. The target may run on another machine.
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { tensorSpecs } from '../src/model/architecture.ts';
import { readArchitecture } from '../src/model/families/families.ts';
import { serveCompletions } from '../src/testing/servers/completions-server.ts';
import { tinyMtp } from '../src/testing/toys/tiny-mtp.ts';
import { advanced, finished, meanwhile, open, ready } from './demo.ts';
import { root, WatchedServer } from './server.ts';

const fit = (page: Page) => page.locator('#fit');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const byAddress = async (page: Page, role: string, address: string): Promise<void> => {
  await page.getByLabel('Role', { exact: true }).selectOption(role);
  await page.getByLabel(/^Address of a \.gguf/).fill(address);
  await page.locator('#by-address').getByRole('button', { name: 'Load', exact: true }).click();
};

const LLAMA_70B = {
  architectures: ['LlamaForCausalLM'],
  vocab_size: 128_256,
  hidden_size: 8192,
  intermediate_size: 28_672,
  num_hidden_layers: 80,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  hidden_act: 'silu',
  max_position_embeddings: 131_072,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: false,
};

/** 141 GB that take no disk space: config and header are real, and the weights are a sparse file of zeros. */
const writeHuge = (folder: string): void => {
  let end = 0;
  const table = tensorSpecs(readArchitecture(LLAMA_70B)).map(({ checkpoint, shape }) => {
    const start = end;
    end += shape.reduce((a, b) => a * b, 2);
    return [checkpoint, { dtype: 'F16', shape, data_offsets: [start, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(table)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const file = join(folder, 'model.safetensors');
  writeFileSync(join(folder, 'config.json'), JSON.stringify(LLAMA_70B));
  writeFileSync(file, Buffer.concat([length, header]));
  truncateSync(file, 8 + header.length + end);
};

const LISTED = {
  siblings: [
    { rfilename: 'small-Q8_0.gguf', size: 639_447_744 },
    { rfilename: '../../evil-Q4_K_M.gguf', size: 1 },
    { rfilename: 'small-Q4_K_M.gguf', size: 396_705_472 },
  ],
  cardData: { license: 'apache-2.0' },
};

test.describe('one page, one model after another', () => {
  test.describe.configure({ mode: 'serial' });

  let page: Page;
  test.beforeAll(async ({ browser }) => {
    page = await browser.newPage();
    await open(page, 'draft', 'autoregressive');
    await page.getByText('Your own model').click();
  });
  test.afterAll(() => page.close());

  test('a model that does not fit is reported before it is downloaded, and the current one stays', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-huge-'));
    try {
      writeHuge(folder);
      await using server = new WatchedServer(folder);
      const address = await server.listen();
      await byAddress(page, 'target', address);
      await expect(fit(page).getByRole('heading')).toHaveText('✗ Does not fit');
      await expect(fit(page)).toContainText(/Does not fit: 1\d\d\.\d GB on the device are more than the [\d.]+ GB/);
      await expect(fit(page).getByRole('row', { name: /^Target/ })).toContainText('141.1 GB');
      await expect(button(page, 'Load anyway')).toBeFocused();
      await expect(page.locator('#phase')).toHaveText('Nothing is downloaded yet');
      // Of 141 GB: the chunk with the header, and what Playwright keeps of any response (100 MB).
      expect(server.sent).toBeLessThan(128e6);
      await button(page, 'Keep current model').click();
      await expect(fit(page)).toBeHidden();
      await expect(page.locator('#phase')).toContainText('The current models stay loaded');
      await expect(page.getByRole('radio', { name: /^Draft/ })).toBeChecked();
      await page.getByRole('button', { name: 'Answer' }).click();
      await finished(page);
      await expect(page.locator('#answer')).not.toBeEmpty();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a model without a chat template continues what is written, in the race and in the chat', async () => {
    const draft = join(root, 'public/models/draft');
    const folder = mkdtempSync(join(tmpdir(), 'outrider-raw-'));
    try {
      cpSync(draft, folder, { recursive: true });
      const { chat_template: _, ...config } = JSON.parse(readFileSync(join(draft, 'tokenizer_config.json'), 'utf8'));
      writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(config));
      await using server = new WatchedServer(folder);
      await byAddress(page, 'target', await server.listen());
      await expect(page.locator('#phase')).toContainText(/Ready: (?!draft)/, { timeout: 240_000 });
      await page.getByRole('button', { name: 'Answer' }).click();
      await finished(page);
      await expect(page.locator('#answer')).not.toBeEmpty();
      await page.getByRole('tab', { name: 'Chat' }).click();
      await expect(page.getByRole('region', { name: 'The loaded model' })).toContainText('it continues what you write');
      await page.getByRole('button', { name: 'Ask the example: Story' }).click();
      await expect(page.getByRole('button', { name: 'Regenerate the answer' })).toBeVisible({ timeout: 240_000 });
      await expect(page.locator('#fault')).toBeHidden();
      await page.getByRole('tab', { name: 'Race' }).click();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a hostile chat template and a hostile split pattern end with an error, and the page lives on', async () => {
    test.slow();
    const draft = join(root, 'public/models/draft');
    const hostile = {
      'tokenizer_config.json': (text: string) =>
        text.replace(
          /"chat_template": ".*"/,
          '"chat_template": "{% for i in range(1000000000) %}{% for j in range(1000000000) %}x{% endfor %}{% endfor %}"',
        ),
      'tokenizer.json': (text: string) => {
        const pattern = { type: 'Split', pattern: { Regex: '(a+)+$' }, behavior: 'Isolated', invert: false };
        return JSON.stringify({ ...JSON.parse(text), pre_tokenizer: pattern });
      },
    };
    for (const [file, spoil] of Object.entries(hostile)) {
      const folder = mkdtempSync(join(tmpdir(), 'outrider-hostile-'));
      try {
        cpSync(draft, folder, { recursive: true });
        writeFileSync(join(folder, file), spoil(readFileSync(join(draft, file), 'utf8')));
        await using server = new WatchedServer(folder);
        const address = await server.listen();
        await byAddress(page, 'target', address);
        const { host } = new URL(address);
        await expect(page.locator('#phase')).toContainText(`Ready: ${host}`, { timeout: 240_000 });
        await page.locator('#problem').fill(`${'a'.repeat(40)}!`);
        await page.getByRole('button', { name: 'Answer' }).click();
        await expect(page.locator('#fault')).toBeVisible();
        await expect(page.locator('#fault')).toContainText(/chat template|the pattern/);
      } finally {
        rmSync(folder, { recursive: true });
      }
    }
    await page.getByRole('radio', { name: /^Draft/ }).check();
    await ready(page);
    await page.getByRole('button', { name: 'Trees' }).click();
    await page.getByRole('button', { name: 'Answer' }).click();
    await finished(page);
    await expect(page.locator('#answer')).toContainText('The answer is');
  });

  test('a published model, by name or from the list, shows its size and licence before anything is fetched', async () => {
    const asked: string[] = [];
    await page.route('https://huggingface.co/**', async (route) => {
      asked.push(route.request().url());
      if (route.request().url().includes('/api/')) await route.fulfill({ json: LISTED });
      else await route.fulfill({ status: 404 });
    });
    await expect(page.getByRole('option', { name: 'DFlash (needs a DFlash drafter)' })).toBeDisabled();
    await expect(page.getByRole('option', { name: 'EAGLE-3 (needs an EAGLE-3 drafter)' })).toBeDisabled();
    await expect(page.locator('#offers')).toContainText('need another model');
    await expect(button(page, 'The bundled target, 2.8 M weights')).toBeVisible();
    await button(page, 'Your own …').click();
    const form = page.locator('#by-address');
    await expect(page.getByLabel(/^Address of a \.gguf/)).toBeFocused();
    await page.getByLabel('Role', { exact: true }).selectOption('target');
    await page.getByLabel(/^Address of a \.gguf/).fill('no model');
    await form.getByRole('button', { name: 'Load' }).click();
    await expect(form.locator('#fault')).toContainText('neither an address nor the name of a model');
    await page.getByLabel(/^Address of a \.gguf/).fill('https://huggingface.co/owner/small-GGUF');
    await form.getByRole('button', { name: 'Load', exact: true }).click();
    await expect(form).toContainText('small-Q4_K_M.gguf was chosen: Q4_K_M keeps most of the quality');
    await expect(form).toContainText('Licence: apache-2.0.');
    await expect(form.getByRole('combobox')).toHaveText(/small-Q4_K_M\.gguf, 397 MBsmall-Q8_0\.gguf, 639 MB/);
    await expect(button(page, 'Download 397 MB')).toBeFocused();
    expect(asked).toEqual(['https://huggingface.co/api/models/owner/small-GGUF?blobs=true']);
    await button(page, 'Download 397 MB').click();
    await expect(form.locator('#fault')).toContainText(
      'The server has no https://huggingface.co/owner/small-GGUF/resolve/main/small-Q4_K_M.gguf',
    );
    expect(asked.slice(1)).toEqual([expect.stringMatching(/\/owner\/small-GGUF\/resolve\/main\/small-Q4_K_M\.gguf$/)]);
    await page.getByText('Published models').click();
    const gemma = page.locator('.catalogue details').filter({ hasText: 'Gemma 3 1B806' });
    await gemma.locator('summary').press('Enter');
    await expect(gemma).toContainText('By downloading it you accept Google’s terms');
    await expect(gemma.getByLabel('Drafted by')).toHaveText(/Gemma 3 270M, draft model, 292 MB/);
    await expect(gemma.getByRole('button', { name: 'Download 1.10 GB: Gemma 3 1B with Gemma 3 270M' })).toBeVisible();
    const qwen = page.locator('.catalogue details').filter({ has: page.getByText('Qwen3 0.6B', { exact: true }) });
    await qwen.locator('summary').press('Enter');
    const inMemory = qwen.getByText('On the device').locator('..');
    await expect(inMemory).toContainText('634 MB');
    await qwen.getByLabel('File').selectOption({ label: 'BF16, 1.20 GB' });
    await expect(inMemory).toContainText('2.38 GB'); // f32: f16 would lose bf16's range
    expect(asked).toHaveLength(2);
  });

  test('models that fit are loaded at once, with a table of what each takes', async () => {
    await using server = new WatchedServer(join(root, 'public'));
    const models = `${await server.listen()}models/`;
    await byAddress(page, 'target', `${models}target/`);
    await expect(fit(page).getByRole('heading')).toHaveText('✓ Fits');
    await expect(button(page, 'Load')).toHaveCount(1); // the one of the address form: no question is asked
    await expect(page.locator('#phase')).toContainText('Ready', { timeout: 240_000 });
    await page.getByLabel('Role', { exact: true }).selectOption('draft');
    await byAddress(page, 'draft', `${models}draft/`);
    await expect(fit(page).getByRole('row')).toHaveText([/^\s*Model/, /^Target/, /^Draft model/, /^Total/]);
    await expect(fit(page)).toContainText('Cache for 1024 tokens');
    await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption('Draft model');
    await ready(page);
    await page.getByRole('button', { name: 'Answer' }).click();
    await finished(page);
    await expect(page.locator('#answer .drafted').first()).toBeVisible();
  });

  test('a target whose files hold an MTP layer drafts for itself, by one button', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-mtp-'));
    try {
      for (const [name, bytes] of tinyMtp().source.files) writeFileSync(join(folder, name), bytes);
      await using server = new WatchedServer(folder);
      const address = await server.listen();
      await byAddress(page, 'target', address);
      const phase = page.locator('#phase');
      await expect(phase).toHaveText(`Ready: ${new URL(address).host}`, { timeout: 240_000 });
      await button(page, 'Use the model’s own MTP layer').click();
      await expect(fit(page).getByRole('row')).toHaveText([/^\s*Model/, /^Target/, /^MTP layer0\.0 MB/, /^Total/]);
      await expect(phase).toHaveText(`Ready: ${new URL(address).host}, MTP layer`, { timeout: 240_000 });
      await expect(page.getByRole('combobox', { name: 'Decoding', exact: true })).toHaveValue('mtp');
      await expect(button(page, 'Use the model’s own MTP layer')).toHaveCount(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('while a model loads, asking for another leaves Cancel to the load', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-huge-'));
    try {
      writeHuge(folder);
      await using server = new WatchedServer(folder);
      const address = await server.listen();
      await page.context().route('**/models/mid/**', () => {}); // never answered
      await page.getByRole('radio', { name: /^Mid/ }).check();
      await byAddress(page, 'target', address);
      await expect(fit(page).getByRole('heading')).toHaveText('✗ Does not fit');
      await expect(page.locator('#phase')).toHaveText('Opening the bundled mid');
      await button(page, 'Keep current model').click();
      await expect(page.locator('#phase')).toHaveText('Opening the bundled mid');
      await button(page, 'Cancel').click();
      await expect(page.locator('#phase')).toHaveText('Cancelled. Choose a model or a system to load one.');
      await expect(page.locator('#lamp')).toHaveAttribute('data-state', 'off');
    } finally {
      await page.context().unroute('**/models/mid/**');
      rmSync(folder, { recursive: true });
    }
  });

  test('a model whose header is still read does not replace one that is chosen later', async () => {
    await using server = new WatchedServer(join(root, 'public'));
    const address = `${await server.listen()}models/target/`;
    const held: string[] = [];
    const failed: string[] = [];
    page.on('requestfailed', (request) => failed.push(request.url()));
    await page.context().route(`${address}**`, (route) => void held.push(route.request().url())); // never answered
    await byAddress(page, 'target', address);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    const mid = page.getByRole('radio', { name: /^Mid/ });
    await mid.check();
    await expect(page.locator('#phase')).toContainText('Ready: mid', { timeout: 240_000 });
    await expect.poll(() => failed).toEqual(expect.arrayContaining(held)); // the reading was given up
    await expect(mid).toBeChecked();
    await page.context().unroute(`${address}**`);
  });
});

test.describe('one page with the bundled target', () => {
  test.describe.configure({ mode: 'serial' });

  let page: Page;
  const runtimes: string[] = [];
  const choose = async (system: string): Promise<void> => {
    await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption(system);
    await ready(page);
  };
  test.beforeAll(async ({ browser }) => {
    page = await browser.newPage();
    page.on('request', (request) => void (/\.wasm$/.test(request.url()) && runtimes.push(request.url())));
    await open(page, undefined, 'arbitrage');
  });
  test.afterAll(() => page.close());

  test('the visitor’s own router, as ONNX files, runs in WebAssembly or on WebGPU', async () => {
    expect(runtimes.filter((url) => /jspi/.test(url))).toEqual([]);
    await page.getByText('Your own model').click();
    const where = page.getByLabel(/^Run an ONNX file in/);
    await expect(where).toBeHidden();
    await page.getByLabel('Role', { exact: true }).selectOption('router');
    const files = ['config.json', 'model.onnx', 'tokenizer.json', 'tokenizer_config.json'];
    await page.locator('#files').setInputFiles(files.map((name) => join(root, 'public/models/router', name)));
    const runsIn = async (runtime: RegExp): Promise<void> => {
      await expect(page.locator('#phase')).toHaveText(/^Ready: .*\brouter\b/, { timeout: 240_000 });
      await expect.poll(() => runtimes.at(-1)).toMatch(runtime);
    };
    await runsIn(/threaded-/);
    await ready(page);
    await page.getByRole('button', { name: 'Answer' }).click();
    await finished(page);
    await expect(page.locator('#answer')).toContainText('The answer is');
    await where.selectOption('WebGPU'); // its answers are in onnx.spec.ts
    await runsIn(/jspi/);
    await ready(page);
    await expect(page.locator('#device')).not.toContainText('not on WebGPU');
  });

  test('SpecGuard’s draft is calibrated from the page, and calibration can be stopped', async () => {
    await choose('specguard');
    await advanced(page);
    await expect(page.locator('#calibration')).toContainText('Press Calibrate to measure');
    // In the page: from outside Stop could come after the last answer.
    await meanwhile(page, '#calibration-about', /alone: [1-9]\d* of \d+$/, { click: '#calibrate' });
    await button(page, 'Calibrate').click();
    await expect(page.locator('#calibration-about')).toContainText('Stopped');
    await expect(button(page, 'Calibrate')).toBeEnabled();
    await page.getByRole('combobox', { name: 'Decoding', exact: true }).selectOption('Plain decoding');
    await expect(page.locator('#calibration')).toBeHidden();
  });

  test('a target on another machine writes the steps; its key stays out of the page', async () => {
    const key = 'sk-secret-of-mine';
    const server = await serveCompletions();
    try {
      server.behave({ says: (prompt) => (prompt.endsWith('\n\n') ? ['13.'] : ['Add', ' them.', '\n\n']), key });
      await choose('random');
      await page.getByLabel('Role', { exact: true }).selectOption('remote');
      await page.getByLabel(/^Address of an OpenAI-compatible server/).fill(server.address);
      await page.getByLabel(/^Model name on the server/).fill('big');
      await page.getByLabel(/^API key/).fill(key);
      await page.getByRole('button', { name: 'Use this server' }).click();
      await expect(page.locator('#phase')).toContainText('Ready: remote target', { timeout: 240_000 });
      await page.getByLabel(/share/i).fill('1');
      await page.getByRole('button', { name: 'Answer' }).click();
      await finished(page);
      await expect(page.locator('#answer')).toContainText('Add them.');
      expect(server.asked.every(({ authorization }) => authorization === `Bearer ${key}`)).toBe(true);
      const kept = await page.evaluate(
        () => document.documentElement.outerHTML + JSON.stringify({ ...localStorage }) + location.href,
      );
      expect(kept).not.toContain(key);
    } finally {
      await server[Symbol.asyncDispose]();
    }
  });
});
