// The widget's promises, each by the single file as a page without a bundler has it: under a strict policy, in frames, from
// another origin, several on a page, removed and moved; every request is on the record.
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Frame, type Page, test } from '@playwright/test';
import { packed } from './fresh-project.ts';
import { listenForLoss } from './lost-device.mjs';
import { paced } from './paced.ts';
import { root, WatchedServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'outrider-widget-'));
const QUESTION = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';
const SCRIPT = '<script type="module" src="./outrider-chat.js"></script>';

const put = (name: string, body: string): void =>
  writeFileSync(join(folder, name), `<!doctype html><html lang="en"><title>A page</title><body>${body}</body></html>`);

test.beforeAll(async () => {
  cpSync(join(await packed(), 'dist/library/outrider-chat.js'), join(folder, 'outrider-chat.js'));
  symlinkSync(join(root, 'public/models'), join(folder, 'models'));
  cpSync(join(root, 'public/traces'), join(folder, 'traces'), { recursive: true });
  put('index.html', `${SCRIPT}<outrider-chat prompt="${QUESTION}"></outrider-chat>`);
  put('small.html', `${SCRIPT}<outrider-chat model="draft" prompt="${QUESTION}"></outrider-chat>`);
  put('two.html', `${SCRIPT}<outrider-chat></outrider-chat><outrider-chat system="draft-model"></outrider-chat>`);
  put('trace.html', `${SCRIPT}<outrider-chat trace="./traces/problem-1.jsonl" speed="0.5" rejected></outrider-chat>`);
  put('long.html', `${SCRIPT}<outrider-chat model="draft" history="20" max-tokens="8"></outrider-chat>`);
  put('frame.html', '<iframe title="Chat" src="./long.html" width="800" height="500"></iframe>');
  put(
    'sandbox.html',
    '<iframe title="Chat" src="./small.html" sandbox="allow-scripts" width="800" height="500"></iframe>',
  );
  put('empty.html', '');
});

const serve = async (headers: Record<string, string> = {}) => {
  const server = new WatchedServer(folder);
  Object.assign(server.headers, headers);
  const address = await server.listen();
  /** What was asked for since the last time, but the icon. */
  const asked = (): string[] =>
    [...new Set(server.requests.splice(0).map(({ path }) => path))].filter((path) => path !== '/favicon.ico');
  return { address, asked, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
};

/** Complaints of the page, and what its policy refused. */
const watch = (page: Page): readonly string[] => {
  const seen: string[] = [];
  page.on('pageerror', (error) => seen.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) seen.push(message.text());
  });
  return seen;
};

const send = (page: Page | Frame, nth = 0, text?: string): Promise<string | null> =>
  page.evaluate(
    ([nth, text]) => {
      const chat = document.querySelectorAll('outrider-chat')[nth ?? 0];
      return customElements.whenDefined('outrider-chat').then(() => chat?.send(text ?? undefined) ?? null);
    },
    [nth, text] as [number, string | undefined],
  );

test('under the strictest policy it asks for nothing it was not told to; removed in an answer, it frees everything', async ({
  page,
}) => {
  await using server = await serve({ 'Content-Security-Policy': "default-src 'self'; worker-src 'self'" });
  const complaints = watch(page);
  await page.goto(server.address);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue(QUESTION);
  await page.waitForTimeout(500);
  expect(server.asked()).toEqual(['/', '/outrider-chat.js']); // before anything is sent: no model, no worker
  expect(page.workers()).toHaveLength(0);

  expect(await send(page)).toContain('The answer is 84.');
  const asked = server.asked();
  expect(asked).toContain('/models/target/model.safetensors');
  expect(asked.filter((path) => !/^\/outrider-chat\.js$|^\/models\/(target|dflash)\//.test(path))).toEqual([]);
  expect(page.workers().map((worker) => worker.url())).toEqual([`${server.address}outrider-chat.js`]);
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
  expect(complaints).toEqual([]);

  await page.evaluate(() => {
    document.addEventListener('outrider-round', () => document.querySelector('outrider-chat')?.remove(), {
      once: true,
    });
  });
  await send(page, 0, QUESTION);
  await expect.poll(() => page.workers().length).toBe(0);
});

test('two share one engine; it ends with the last of them, and not when one is moved', async ({ page }) => {
  await using server = await serve();
  await page.goto(`${server.address}two.html`);
  expect(await send(page, 0, QUESTION)).toContain('84');
  server.asked();
  const both = await Promise.all([send(page, 0, QUESTION), send(page, 1, QUESTION)]);
  expect(both[0]).toBe(both[1]); // exact systems: the same tokens
  expect(server.asked().filter((path) => !path.startsWith('/models/draft/'))).toEqual([]);
  expect(page.workers()).toHaveLength(1);
  const stored = await page.evaluate(() => document.querySelector('outrider-chat')?.storedModels());
  expect(stored?.map(({ name }) => name)).toContain(`${new URL(server.address).host}/models/target`);

  const chats = page.locator('outrider-chat');
  await chats.first().evaluate((chat) => document.body.append(chat));
  await chats.first().evaluate((chat) => chat.remove());
  expect(await send(page, 0, QUESTION)).toContain('84');
  expect(server.asked()).toEqual([]); // the moved one kept its conversation and its models
  expect(page.workers()).toHaveLength(1);

  const ended = page.workers()[0]?.waitForEvent('close');
  await chats.first().evaluate((chat) => chat.remove());
  await ended;
  expect(page.workers()).toHaveLength(0);
});

test('in a sandboxed frame, which has no origin', async ({ page }) => {
  await using server = await serve();
  const complaints = watch(page);
  await page.goto(`${server.address}sandbox.html`);
  const frame = page.frameLocator('iframe');
  await frame.getByRole('button', { name: 'Send' }).click();
  await expect(frame.getByRole('log')).toContainText('The answer is');
  expect(complaints).toEqual([]);
});

test('from another origin, whose policy names it', async ({ page }) => {
  await using far = await serve();
  const policy = `default-src 'self'; script-src ${far.address}; connect-src ${far.address}; worker-src blob: ${far.address}`;
  await using near = await serve({ 'Content-Security-Policy': policy });
  const complaints = watch(page);
  put(
    'far.html',
    `<script type="module" src="${far.address}outrider-chat.js"></script><outrider-chat base="${far.address}"></outrider-chat>`,
  );
  await page.addInitScript(() => {
    const made: string[] = [];
    const { createObjectURL } = URL;
    Object.assign(window, { made });
    URL.createObjectURL = (blob) => made[made.push(createObjectURL.call(URL, blob)) - 1] as string;
  });
  await page.goto(`${near.address}far.html`);
  expect(await send(page, 0, QUESTION)).toContain('84');
  expect(near.asked()).toEqual(['/far.html']);
  expect(complaints).toEqual([]);
  // The worker came from a blob, which is free again: a worker of that address cannot start any more.
  const failed = await page.evaluate(() => {
    const { made } = window as unknown as { made: string[] };
    const tries = made.map(
      (address) =>
        new Promise<string>((resolve) => {
          const worker = new Worker(address, { type: 'module' });
          worker.addEventListener('error', () => resolve('gone'));
          setTimeout(() => resolve('there'), 120_000);
        }),
    );
    return Promise.all(tries);
  });
  expect(failed).toEqual(['gone']);
});

test('replays a trace, and starts nothing for it', async ({ page }) => {
  await using server = await serve({ 'Content-Security-Policy': "default-src 'self'; worker-src 'none'" });
  const complaints = watch(page);
  await page.goto(`${server.address}trace.html`);
  expect(await send(page)).toContain('The answer is 52.');
  expect(server.asked()).toEqual(['/trace.html', '/outrider-chat.js', '/traces/problem-1.jsonl']);
  expect(page.workers()).toHaveLength(0);
  const recorded = readFileSync(join(folder, 'traces/problem-1.jsonl'), 'utf8').trim().split('\n');
  const commits = recorded.map((line) => JSON.parse(line)).filter(({ type }) => type === 'commit');
  const count = commits.flatMap(({ source }) => source).filter((source) => source === 'drafted').length;
  expect(await page.locator('outrider-chat .answer .drafted').count()).toBe(count);
  expect(complaints).toEqual([]);
});

test('type and colours that a page gives to its body, or to every element, do not reach in', async ({ page }) => {
  await using server = await serve();
  const loud =
    'color: red; font: italic 9px/1 monospace; letter-spacing: 5px; text-align: center; text-indent: 3em; ' +
    'text-shadow: 1px 1px red; text-transform: uppercase; white-space: nowrap; word-spacing: 1em; cursor: wait; ' +
    'hyphens: auto; text-decoration: underline; user-select: none; word-break: break-all';
  const looks = async (style: string) => {
    put('loud.html', `<style>${style}</style>${SCRIPT}<outrider-chat prompt="${QUESTION}"></outrider-chat>`);
    await page.goto(`${server.address}loud.html`);
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue(QUESTION);
    return page.locator('outrider-chat').evaluate((chat) =>
      ['.title', '.log', '.legend li', 'textarea', '.form button'].map((part) => {
        const {
          color,
          cursor,
          font,
          hyphens,
          letterSpacing,
          textAlign,
          textIndent,
          textShadow,
          textTransform,
          userSelect,
          whiteSpace,
          wordBreak,
          wordSpacing,
        } = getComputedStyle(chat.shadowRoot?.querySelector(part) ?? chat);
        return [
          ...[color, cursor, font, hyphens, letterSpacing, textAlign, textIndent, textShadow, textTransform],
          ...[userSelect, whiteSpace, wordBreak, wordSpacing],
        ];
      }),
    );
  };
  const picture = () => page.locator('outrider-chat').screenshot();
  const [quiet, drawn] = [await looks(''), await picture()];
  for (const reached of ['body', 'body, body *']) {
    expect(await looks(`${reached} { ${loud} }`)).toEqual(quiet);
    expect(drawn.equals(await picture()), reached).toBe(true);
  }
  // Where a page's rem is small, one variable makes all text larger.
  expect(await looks('html { font-size: 62.5% } body { --outrider-font: 1.6rem / 1.5 system-ui, sans-serif }')).toEqual(
    quiet,
  );
});

test('a load is stopped by the button and by Escape, what was typed stays, and another load may follow at once', async ({
  page,
}) => {
  await using server = await serve();
  const weights = '**/models/draft/model.safetensors';
  await page.context().route(weights, () => {}); // never answered
  await page.goto(`${server.address}small.html`);
  const load = (stopFirst: boolean): Promise<boolean | undefined> =>
    page.evaluate(async (stopFirst) => {
      await customElements.whenDefined('outrider-chat');
      const chat = document.querySelector('outrider-chat');
      if (stopFirst) chat?.stop();
      if (stopFirst) chat?.reset();
      return chat?.load();
    }, stopFirst);
  const [stop, box] = [page.getByRole('button', { name: 'Stop' }), page.getByRole('textbox', { name: 'Message' })];
  for (const cancel of [() => box.press('Escape'), () => stop.click()]) {
    const loading = load(false);
    await expect(stop).toBeVisible();
    await box.fill('How many?');
    await box.press('Enter');
    await cancel();
    expect(await loading).toBe(false);
    await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
    await expect(box).toHaveValue('How many?');
  }
  // A question that was stopped before its answer began is asked anew, not a second time.
  await box.fill(QUESTION);
  for (let i = 0; i < 2; i++) {
    await box.press('Enter');
    await expect(stop).toBeVisible();
    await expect(page.getByRole('log').getByText(QUESTION)).toHaveCount(1);
    await stop.click();
    await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
    await expect(page.locator('outrider-chat .answer')).toHaveCount(0);
    await expect(page.getByRole('status')).toBeEmpty();
    await expect(box).toHaveValue(QUESTION);
  }
  const first = load(false);
  await expect(stop).toBeVisible();
  await page.context().unroute(weights);
  expect(await Promise.all([first, load(true)])).toEqual([false, true]);
  await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('models of the page’s own turn a recording into a chat, set before the element is defined or later', async ({
  page,
}) => {
  await using server = await serve();
  const set = "document.querySelector('outrider-chat').sources = { target: { kind: 'url', url: './models/draft/' } }";
  put(
    'sources.html',
    `<outrider-chat trace="./traces/problem-1.jsonl"></outrider-chat><script>${set}</script>${SCRIPT}`,
  );
  await page.goto(`${server.address}sources.html`);
  const box = page.getByRole('textbox', { name: 'Message' });
  await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
  await expect(box).toBeEditable();
  await page.locator('outrider-chat').evaluate((chat: HTMLElementTagNameMap['outrider-chat']) => {
    chat.sources = null;
  });
  await expect(page.getByRole('button', { name: 'Play' })).toBeVisible();
  await page.evaluate(set);
  await expect(box).toBeEditable();
});

test('what fails is a note and an event: the question is kept, tried again and asked once, or another model answers', async ({
  page,
}) => {
  await using server = await serve();
  put('late.html', `${SCRIPT}<outrider-chat model="./late/"></outrider-chat>`);
  await page.goto(`${server.address}late.html`);
  const failed = page.evaluate(
    () =>
      new Promise((resolve) =>
        document.addEventListener('outrider-error', (event) => resolve(event.detail), { once: true }),
      ),
  );
  const [alert, question] = [page.getByRole('alert'), page.getByRole('textbox', { name: 'Message' })];
  expect(await send(page, 0, QUESTION)).toBe(null);
  expect(await failed).toMatchObject({ code: 'download-failed' });
  await expect(alert).toContainText(`The server has no ${server.address}late/config.json`);
  await expect(question).toHaveValue(QUESTION);
  await page.locator('outrider-chat').screenshot({ path: 'test-results/widget-fault.png' });
  expect(await send(page)).toBe(null); // by Send instead of Try again
  await expect(page.getByRole('log').getByText(QUESTION)).toHaveCount(1);
  symlinkSync(join(root, 'public/models/target'), join(folder, 'late'));
  await page.getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(question).toBeFocused();
  await expect(page.getByRole('log')).toContainText('The answer is 84.');
  await expect(alert).toHaveCount(0);
  await expect(page.getByRole('log').getByText(QUESTION)).toHaveCount(1);
  await expect(page.locator('outrider-chat')).toHaveJSProperty('busy', false); // or nothing more can be sent

  await page.locator('outrider-chat').evaluate((chat) => chat.setAttribute('model', './models/nothing/'));
  expect(await send(page, 0, QUESTION)).toBe(null);
  await expect(alert).toContainText(`The server has no ${server.address}models/nothing/config.json`);
  await page.locator('outrider-chat').evaluate((chat) => chat.removeAttribute('model'));
  expect(await send(page, 0, QUESTION)).toContain('84');
  await expect(alert).toHaveCount(0);
});

test('a number that is none is named, by a note and an event, before anything is fetched', async ({ page }) => {
  await using server = await serve();
  put('many.html', `${SCRIPT}<outrider-chat max-tokens="many"></outrider-chat>`);
  const fetched: string[] = [];
  page.on('request', (request) => fetched.push(request.url()));
  await page.goto(`${server.address}many.html`);
  expect(await send(page, 0, QUESTION)).toBe(null);
  await expect(page.getByRole('alert')).toContainText(
    /the attribute max-tokens must be a whole number from 1 on, not "many"/i,
  );
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue(QUESTION);
  expect(fetched.filter((url) => url.includes('/models/'))).toEqual([]);
});

test('a device that is lost in the middle of an answer is replaced, and the answer goes on', async ({ page }) => {
  await paced(page);
  await listenForLoss(page);
  await page.addInitScript(() => {
    document.addEventListener(
      'outrider-round',
      ({ target }) => {
        const log = (target as HTMLElement).shadowRoot?.querySelector('.log');
        const keep = (): void => {
          const note = log?.querySelector<HTMLElement>('.note');
          if (note?.checkVisibility()) document.body.dataset.note = note.textContent;
        };
        if (log) new MutationObserver(keep).observe(log, { childList: true });
        new BroadcastChannel('lose').postMessage('');
      },
      { once: true },
    );
  });
  await using server = await serve();
  await page.goto(server.address);
  expect(await send(page)).toContain('The answer is 84.');
  await expect(page.locator('body')).toHaveAttribute('data-note', /^The graphics card was lost\./);
  await expect(page.locator('outrider-chat .note')).toHaveCount(0);
  await expect(page.locator('outrider-chat dt')).toHaveText(['tokens/s', 'tokens a round', 'tokens', 'target passes']);
  await expect(page.getByRole('alert')).toHaveCount(0);
  await expect(page.getByRole('log').getByText(QUESTION)).toHaveCount(1);
});

test('in a frame, a conversation that outgrows the context goes on without its oldest exchanges, and says so', async ({
  page,
}) => {
  await using server = await serve();
  const complaints = watch(page);
  await page.goto(`${server.address}frame.html`);
  const frame = page.frame({ url: /long\.html$/ }) as Frame;
  const forgotten = frame.evaluate(
    () => new Promise((resolve) => document.addEventListener('outrider-overflow', ({ detail }) => resolve(detail))),
  );
  const long = (name: string): string => `${name} has 54 stones. `.repeat(90);
  const log = frame.getByRole('log');
  for (const name of ['Ida', 'Leo', 'Eva']) {
    expect(await send(frame, 0, long(name))).not.toBe(null);
    await expect(log.getByText('the model no longer sees the messages above')).toHaveCount(name === 'Ida' ? 0 : 1);
  }
  expect(await forgotten).toEqual({ forgotten: 1 });
  expect(await send(frame, 0, 'And now?')).not.toBe(null);
  const order = await log.evaluate((node) => [...node.children].map((child) => child.part[1] ?? child.part[0]));
  // Two long questions and an answer fill the context; the short one after them fits, and brings nothing back.
  expect(order.join(' ')).toBe('prompt answer prompt answer divider prompt answer prompt answer');
  await expect(frame.locator('outrider-chat [part=end]').last()).toHaveText('cut off at its limit');
  await frame.locator('outrider-chat').screenshot({ path: 'test-results/widget-overflow.png' });
  expect(complaints).toEqual([]);
});
