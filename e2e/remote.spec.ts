// A remote target from a page: the engine in its worker sends requests to another origin, which must allow them.
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { type CompletionsTestServer, serveCompletions } from '../src/testing/servers/completions-server.ts';
import { root, WatchedServer } from './server.ts';

interface Harness {
  readonly outrider: typeof import('../src/index.ts');
  /** One for all tests: the draft stays loaded. */
  engine?: import('../src/index.ts').Engine;
}

const KEY = 'sk-browser';

let page: Page;

/** Runs with every step escalated to the server; returns the events or the fault. */
const ask = (address: string, fallBack: 'draft' | 'fail' = 'fail') =>
  page.evaluate(
    async ({ address, key, fallBack }) => {
      const harness = globalThis as unknown as Harness;
      const { connect, remote, toFault } = harness.outrider;
      harness.engine ??= connect();
      const { engine } = harness;
      const events = [];
      try {
        await engine.load({ draft: 'draft', remote: remote(address, 'big', key, { fallBack }) });
        const prompt = { messages: [{ role: 'user', content: 'Six and seven?' }] };
        const request = { prompt, system: 'random', knobs: { share: 1 }, maxTokens: 24 };
        for await (const event of engine.run(request)) events.push(event);
        return { events, fault: null };
      } catch (error) {
        return { events, fault: toFault(error) };
      }
    },
    { address, key: KEY, fallBack },
  );

test.describe.configure({ mode: 'serial' });

const library = new WatchedServer(join(root, 'dist/harness'));
let server: CompletionsTestServer;
test.beforeAll(async ({ browser }) => {
  page = await browser.newPage();
  await page.goto(await library.listen());
  await page.waitForFunction(() => 'outrider' in globalThis);
});
test.afterAll(async () => {
  await page.close();
  await library[Symbol.asyncDispose]();
});
test.beforeEach(async () => {
  server = await serveCompletions();
});
test.afterEach(() => server[Symbol.asyncDispose]());

const says = (prompt: string) => (prompt.endsWith('\n\n') ? ['13.'] : ['Add', ' them.', '\n\n']);

test('a server writes the steps, with the key in the header and nowhere in the page', async () => {
  const printed: string[] = [];
  page.on('console', (message) => printed.push(message.text()));
  server.behave({ says, key: KEY });
  const { events, fault } = await ask(server.address);
  expect(fault).toBeNull();
  expect(events.at(-1)).toMatchObject({ type: 'done', finish_reason: 'stop', text: 'Add them.\n\n13.' });
  expect(server.asked.map(({ authorization }) => authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
  expect(JSON.stringify(events) + printed.join()).not.toContain(KEY);
});

test('a server that does not allow the page’s origin is distinguished from one that is unreachable', async () => {
  server.behave({ says, cors: false });
  const { fault } = await ask(server.address);
  expect(fault).toMatchObject({ code: 'download-failed' });
  expect(fault?.message).toContain('the server is there, but this page may not ask it (CORS)');
  expect(fault?.hint).toContain(`Access-Control-Allow-Origin for ${new URL(page.url()).origin}`);
  expect(server.asked).toEqual([]);

  const gone = await serveCompletions();
  await gone[Symbol.asyncDispose]();
  const { fault: other } = await ask(gone.address);
  expect(other?.message).toContain('no connection');
  expect(other?.hint).toContain('that the server runs');
});

test('the draft goes on if the server fails and that was allowed', async () => {
  server.behave({ refusals: [{ status: 404, body: '{"detail":"no model big"}' }] });
  const { events, fault } = await ask(server.address, 'draft');
  expect(fault).toBeNull();
  expect(events.find(({ type }) => type === 'remote')).toMatchObject({ fault: { code: 'bad-request' } });
  expect(events.at(-1)).toMatchObject({ type: 'done' });
});
