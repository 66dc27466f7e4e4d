// Traces: runs are saved, opened, shared and replayed, also without WebGPU.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { withoutWebGpu } from './browser.ts';
import { answer, loaded, meanwhile, open, traceMenu, withoutModels } from './demo.ts';
import { root } from './server.ts';

const recorded = (name: string): string => join(root, 'public/traces', name);

const openFile = async (
  page: Page,
  file: string | { name: string; mimeType: string; buffer: Buffer },
): Promise<void> => {
  await page.getByLabel('Trace file').setInputFiles(file);
};

const text = (name: string, content: string) => ({ name, mimeType: '', buffer: Buffer.from(content) });

const played = async (page: Page): Promise<void> => {
  await expect(page.locator('#answer')).toHaveAttribute('aria-busy', 'false');
  await expect(page.locator('#go')).not.toHaveText('Stop');
};

test.describe('with a GPU', () => {
  test.describe.configure({ mode: 'serial' });
  let page: Page;
  let saved = '';

  test.beforeAll(async ({ browser }) => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    page = await context.newPage();
    await open(page);
  });
  test.afterAll(() => page.context().close());

  const save = async (): Promise<{ name: string; content: string }> => {
    const download = page.waitForEvent('download');
    await traceMenu(page);
    await page.getByRole('button', { name: 'Save' }).click();
    const file = await download;
    return { name: file.suggestedFilename(), content: readFileSync(await file.path(), 'utf8') };
  };
  const savedHeader = async () => JSON.parse((await save()).content.split('\n')[0] ?? '');

  test('a run is saved as JSON lines, with its problem and the device', async () => {
    await traceMenu(page);
    await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
    await answer(page);
    const { name, content } = await save();
    expect(name).toBe('outrider-dflash.jsonl');
    saved = content;
    const [header, ...events] = saved
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(header).toMatchObject({ outrider: 'trace', version: 1, title: 'DFlash', problem: { result: '52' } });
    expect(header.device).toMatch(/swiftshader/i);
    expect(events[0].type).toBe('run');
    expect(events.at(-1).type).toBe('done');
  });

  test('a saved run is opened and shows the same answer and verdict', async () => {
    const said = await page.locator('#answer').textContent();
    await page.getByRole('button', { name: 'Pick another' }).click();
    await openFile(page, text('mine.jsonl', saved));
    await played(page);
    await expect(page.locator('#trace-about')).toContainText('mine.jsonl');
    await expect(page.getByLabel('Problem for the model')).toHaveValue(/^Leo plants/);
    await expect(page.locator('#verdict')).toHaveText('✓ Correct: 52');
    expect(await page.locator('#answer').textContent()).toBe(said);
    await expect(page.locator('#replay')).toHaveText(
      /^Replay: DFlash with the bundled models, recorded on .*swiftshader.*\.$/i,
    );
  });

  test('what is shown is said to be a replay until a run of this page takes its place', async () => {
    const note = page.locator('.replay-side');
    await page.getByRole('button', { name: 'Shop' }).click(); // another problem
    await expect(page.locator('#replay')).toBeEmpty();
    await expect(note).toBeHidden();
    const before = await page.locator('#problem').inputValue();
    await openFile(page, join(root, 'docs/results/smollm2-eagle3.jsonl'));
    await played(page);
    await expect(page.locator('#replay')).toHaveText(/^Replay: EAGLE-3 with SmolLM2-135M.*, recorded on llvmpipe/);
    await expect(page.locator('#truth')).toHaveText(/does not contain its problem/);
    await expect(page.locator('#problem')).toHaveValue(before);
    await expect(note).toBeVisible();
    await expect(page.locator('#answer-title')).toBeInViewport();
    await page.getByRole('tab', { name: 'Inspect' }).click();
    await expect(page.locator('#inspect-replay')).toHaveText(/^Replay: EAGLE-3/);
    await expect(note).toBeHidden(); // it speaks of the answer
    await page.getByRole('tab', { name: 'Race' }).click();
    await page.getByRole('button', { name: 'Trees' }).click();
    await answer(page);
    await expect(page.locator('#replay')).toBeEmpty();
    await expect(note).toBeHidden();
  });

  test('an example is played from the menu, by keyboard, and nothing is fetched before it is chosen', async () => {
    const fetched: string[] = [];
    page.on('request', (request) => fetched.push(request.url()));
    await page.locator('#trace-menu').press('Enter');
    const example = page.getByRole('group', { name: 'Examples' }).getByRole('button', { name: 'RSD' });
    await expect(example).toBeVisible();
    await expect(page.getByRole('group', { name: 'Examples' }).getByRole('button')).toHaveCount(6);
    expect(fetched.filter((url) => url.endsWith('.jsonl'))).toEqual([]);
    await example.press('Enter');
    await expect(page.locator('#trace-about')).toContainText('RSD, from the examples, recorded on llvmpipe');
    await expect(page.locator('#trace')).toBeHidden();
    await expect(page.locator('#answer-title')).toBeFocused();
    await played(page);
    await expect(page.locator('#replay')).toHaveText(
      'Replay: RSD with the bundled models, recorded on llvmpipe (Mesa’s lavapipe, on the processor).',
    );
    await expect(page.getByLabel('Problem for the model')).toHaveValue(/^Tom has 21 beads/);
    await expect(page.locator('#verdict')).toHaveText('✓ Correct: 9');
    await page.getByRole('button', { name: 'Trees' }).click();
    await openFile(page, text('mine.jsonl', saved));
    await played(page);
  });

  test('it is shared as a link, which opens it', async () => {
    await traceMenu(page);
    await page.getByRole('button', { name: 'Share' }).click();
    await expect(page.locator('#trace-about')).toContainText('Copied a link');
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toMatch(/#race&trace=[\w-]+$/);
    expect(page.url()).toBe(link);
    const other = await page.context().newPage();
    await withoutModels(other);
    await other.goto(link);
    await expect(other.locator('#trace-about')).toContainText('DFlash, from the link');
    await played(other);
    await expect(other.locator('#verdict')).toHaveText('✓ Correct: 52');
    await other.close();
  });

  test('a run that is too long for a link is refused, and Save is offered', async () => {
    const [header, run, ...events] = saved.trim().split('\n');
    const filler = Array.from({ length: 600 }, (_, i) => {
      const noise = Array.from({ length: 16 }, (__, j) => (i * 7919 + j * 104_729 + i * j * 31) % 50_021);
      return JSON.stringify({
        at: i,
        type: 'draft',
        round: i,
        by: 'draft',
        tokens: noise,
        parents: noise.map((_, j) => j - 1),
        passes: 1,
        ms: 1,
      });
    });
    await openFile(page, text('long.jsonl', [header, run, ...filler, ...events].join('\n')));
    await expect(page.locator('#trace-about')).toContainText('long.jsonl');
    await played(page);
    const before = page.url();
    await traceMenu(page);
    await page.getByRole('button', { name: 'Share' }).click();
    await expect(page.locator('#trace-about')).toContainText(
      /too long for a link \([\d.]+ kB, limit 8\.2 kB\)\. Save it/,
    );
    await expect(page.getByRole('button', { name: 'Save' })).toBeFocused();
    expect(page.url()).toBe(before);
  });

  test('a file that is not a trace is refused with the wrong line, and the page goes on', async () => {
    const fault = page.getByRole('alert');
    await openFile(page, text('broken.jsonl', `${saved.split('\n').slice(0, 3).join('\n')}\n{"at": 1, "ty`));
    await expect(fault).toContainText('Line 4: it is not JSON');
    await openFile(page, text('holiday.jsonl', '{"where": "sea"}'));
    await expect(fault).toContainText('Line 1: it has no type');
    await openFile(page, text('newer.jsonl', saved.replace('"version":1', '"version":7')));
    await expect(fault).toContainText('version 7');
    await page.goto(`${page.url().replace(/#.*/, '')}#race&trace=AAAA`);
    await expect(fault).toContainText('The trace in this link is incomplete');
    await openFile(page, text('mine.jsonl', saved));
    await played(page);
    await expect(fault).toBeHidden();
  });

  test('legend and names are those of the trace, whatever is chosen or loaded', async () => {
    const legend = page.locator('#legend');
    await expect(page.getByRole('combobox', { name: 'Decoding', exact: true })).toHaveValue('dflash');
    await expect(legend).toContainText('corrected by the target');
    await openFile(page, recorded('problem-6.jsonl'));
    await played(page);
    for (const name of ['the target', 'the mid model', 'the draft model', 'the combined distribution'])
      await expect(legend).toContainText(name);
    await page.getByRole('tab', { name: 'Inspect' }).click();
    await page.getByRole('slider', { name: 'Round' }).press('End');
    await expect(page.locator('.vote-bars').first()).toHaveText(/A target.*B mid model.*C draft model/s);
    await page.getByRole('tab', { name: 'Race' }).click();
    const system = page.getByRole('combobox', { name: 'Decoding', exact: true });
    await system.selectOption('ensemble'); // of target and draft alone
    await loaded(page); // the recording has no problem
    await expect(legend).toContainText('proposed by the mid model');
    await page.getByRole('tab', { name: 'Inspect' }).click();
    await page.getByRole('slider', { name: 'Round' }).press('ArrowLeft');
    await expect(page.locator('.vote-bars').first()).toContainText('B mid model');
    await page.getByRole('tab', { name: 'Race' }).click();
    await system.selectOption('dflash');
    await loaded(page); // the recording has no problem
    await openFile(page, recorded('problem-4.jsonl'));
    await played(page);
    await expect(legend).toContainText('step of the target');
  });

  test('a recorded step router has the probabilities of target and draft for each token', async () => {
    await page.getByRole('tab', { name: 'Inspect' }).click();
    await expect(page.locator('#details-about')).not.toContainText('recorded no probabilities');
    const escalated = page.locator('#round-tokens tbody tr').filter({ hasText: /✓ accepted/ });
    await page.getByRole('slider', { name: 'Round' }).press('Home');
    await expect(page.locator('#round-tokens tbody tr td:nth-of-type(3)').first()).toHaveText(/%$/); // the draft's step
    for (let i = 0; i < 3; i++) await page.getByRole('slider', { name: 'Round' }).press('ArrowRight');
    await expect(page.locator('#round-about')).toContainText('drafted by DFlash');
    await expect(escalated.locator('td:nth-of-type(3)').first()).toHaveText(/%$/);
    await expect(escalated.locator('td:nth-of-type(4)').first()).toHaveText(/%$/);
    await page.getByRole('tab', { name: 'Race' }).click();
  });

  test('a dropped trace of the command line opens anywhere, and takes longer at a quarter of the speed', async () => {
    /** How long it plays. In the page, because a replay of a fifth of a second is over before a message from here. */
    const drop = async (): Promise<number> => {
      const milliseconds = await page.evaluate(
        async (content) => {
          const go = document.querySelector('#go');
          const plays = (now: boolean): Promise<void> =>
            new Promise((resolve) => {
              const look = (): void => {
                if ((go?.textContent === 'Stop') !== now) return;
                observer.disconnect();
                resolve();
              };
              const observer = new MutationObserver(look);
              observer.observe(document.body, { subtree: true, childList: true, characterData: true });
              look();
            });
          const began = performance.now();
          const transfer = new DataTransfer();
          transfer.items.add(new File([content], 'cli.jsonl'));
          for (const type of ['dragover', 'drop'])
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true }));
          await plays(true);
          await plays(false);
          return performance.now() - began;
        },
        readFileSync(recorded('problem-2.jsonl'), 'utf8'),
      );
      await played(page);
      return milliseconds;
    };
    const events = readFileSync(recorded('problem-2.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const first = events.find(({ type }) => type === 'commit').at;
    const decoding = events.at(-1).at - first;
    await traceMenu(page);
    await page.getByLabel('Replay speed').selectOption('¼×');
    const slow = await drop();
    expect(slow).toBeGreaterThan(first + 4 * decoding - 50);
    await traceMenu(page);
    await page.getByLabel('Replay speed').selectOption('1×');
    // A busy machine can make any one replay late, so one that is in time shows it.
    await expect(async () => expect(slow - (await drop())).toBeGreaterThan(2 * decoding)).toPass();
    await expect(page.locator('#answer')).toContainText('The answer is');
  });

  test('a problem that is written during a run is not the one it answers', async () => {
    await page.getByRole('button', { name: 'Trees' }).click();
    const other = 'Eva has 3 cups. Eva buys 4 more cups. How many cups does Eva have now?';
    await meanwhile(page, '#count', /^[1-9]/, { values: { '#problem': other } });
    await answer(page);
    await expect(page.locator('#problem')).toHaveValue(other);
    await expect(page.locator('#answer')).toBeEmpty();
    expect(await savedHeader()).toMatchObject({ problem: { question: expect.stringMatching(/^Leo plants/) } });
  });

  test('an answer of the chat is saved under its own system, and a trace that is opened meanwhile stays', async () => {
    const tab = (name: string) => page.getByRole('tab', { name }).click();
    const text = '#chat-log .message.assistant .text';
    const again = page.getByRole('button', { name: 'Run again with probabilities' });
    const send = page.getByRole('button', { name: 'Send' });
    const ask = async (): Promise<void> => {
      await tab('Chat');
      const question = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
      await page.getByRole('textbox', { name: 'Message' }).fill(question);
      await send.click();
    };
    await tab('Inspect');
    await expect(again).toBeVisible();
    await meanwhile(page, text, /\w/, { values: { '#system': 'autoregressive' } });
    await ask();
    await expect(send).toBeVisible();
    expect(await savedHeader()).toMatchObject({
      title: 'DFlash',
      problem: { question: expect.stringMatching(/^Ida/) },
    });
    await tab('Inspect');
    await expect(page.locator('#inspect-title')).toHaveText(/^DFlash: /);
    await expect(again).toBeHidden(); // it is no run of the Race tab
    await meanwhile(page, text, /\w/, { drop: readFileSync(recorded('problem-2.jsonl'), 'utf8') });
    await ask();
    await expect(page.locator('#trace-about')).toContainText('dropped.jsonl');
    await tab('Chat');
    await expect(send).toBeVisible();
    await tab('Inspect');
    await expect(page.locator('#inspect-title')).toHaveText(/^EAGLE-3: /);
    await expect(again).toBeHidden();
    expect(await savedHeader()).toMatchObject({ title: 'EAGLE-3' });
  });
});

test('a shared trace plays without WebGPU', async ({ baseURL }) => {
  const browser = await withoutWebGpu();
  const page = await browser.newPage();
  let serve = (): void => {};
  const served = new Promise<void>((resolve) => {
    serve = resolve;
  });
  const held: string[] = [];
  await page.route(/traces\/[^/]+\.jsonl$/, async (route) => {
    held.push(route.request().url());
    await served;
    await route.continue();
  });
  await page.goto(baseURL ?? '');
  await expect(page.getByRole('heading', { name: /No usable WebGPU/ })).toBeVisible();
  // The opened trace replaces the recording that the page plays by itself, in Race, Inspect and Save, even where that
  // recording arrives after it. The stage asks for the same one.
  await expect.poll(() => held.filter((url) => url.endsWith('/problem-1-plain.jsonl')).length).toBe(2);
  await openFile(page, recorded('problem-6.jsonl'));
  await expect(page.locator('#trace-about')).toContainText('problem-6.jsonl');
  serve();
  await expect(page.locator('#lane-system-name')).toHaveText('CoS');
  await page.getByRole('tab', { name: 'Inspect' }).click();
  await expect(page.locator('#inspect-title')).toHaveText(/^CoS: \d+ tokens in \d+ rounds$/);
  await page.getByRole('tab', { name: 'Race' }).click();
  await expect(page.locator('#truth')).toContainText('does not contain its problem');
  await expect(page.locator('#go')).toBeEnabled(); // the visitor's own problem is still in the box
  await openFile(page, recorded('problem-1.jsonl'));
  await expect(page.locator('#trace-about')).toContainText('problem-1.jsonl');
  await played(page);
  await traceMenu(page);
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.locator('#trace-about')).toContainText('link');
  const link = page.url();
  expect(link).toContain('#race&trace=');
  const other = await browser.newPage();
  await other.goto(link);
  await expect(other.locator('#trace-about')).toContainText('from the link');
  await played(other);
  await expect(other.locator('#answer')).toContainText('The answer is 52.');
  // A trace that has been played before the list of recordings arrives stays too.
  const late = await browser.newPage({ reducedMotion: 'reduce' });
  let list = (): void => {};
  const listed = new Promise<void>((resolve) => {
    list = resolve;
  });
  await late.route('**/traces/index.json', async (route) => {
    await listed;
    await route.continue();
  });
  await late.goto(baseURL ?? '');
  await expect(late.getByRole('heading', { name: /No usable WebGPU/ })).toBeVisible();
  await openFile(late, recorded('problem-6.jsonl'));
  await expect(late.locator('#trace-about')).toContainText('problem-6.jsonl');
  await played(late);
  list();
  await expect(late.locator('#examples button')).toHaveCount(6);
  await expect(late.locator('#go')).toHaveText('Replay');
  await expect(late.locator('#lane-system-name')).toHaveText('CoS');
  await browser.close();
});
