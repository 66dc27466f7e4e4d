// Downloads are stored: a second load makes no request, and an interrupted download resumes where it stopped.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { history, ready } from './demo.ts';
import { root, WatchedServer } from './server.ts';

const WEIGHTS = '/models/target/model.safetensors';
/** Stored downloads have chunks of this size. */
const CHUNK = 4 * 2 ** 20;

const weightsAsked = (server: WatchedServer): number[] =>
  server.requests.filter(({ path }) => path === WEIGHTS).map(({ start }) => start);

/** A link proposes the model; Load fetches it. */
const load = async (page: Page, address: string): Promise<void> => {
  await page.goto(`/?model=${encodeURIComponent(address)}&system=autoregressive`);
  await expect(page.locator('#phase')).toHaveText('Opening the bundled target');
  await page.locator('#by-address').getByRole('button', { name: 'Load' }).click();
};

const loaded = async (page: Page): Promise<void> => {
  await expect(page.locator('#phase')).toContainText('Ready:', { timeout: 240_000 });
  await ready(page);
};

test('a cancelled download can be pressed again, an interrupted one resumes, and a second load makes no request', async ({
  page,
  baseURL,
}) => {
  await page.addInitScript(() => {
    navigator.storage.persist = async () => Boolean(Object.assign(globalThis, { persistAsked: true }));
  });
  await page.route(`${baseURL}models/**`, () => {}); // the page's own model never comes, and is not compiled
  await using server = new WatchedServer(join(root, 'public'));
  const address = `${await server.listen()}models/target/`;
  expect(statSync(join(root, 'public', WEIGHTS)).size).toBeGreaterThan(CHUNK);

  server.stalls.set(WEIGHTS, 100_000);
  await load(page, address);
  await expect.poll(() => weightsAsked(server).length).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('#phase')).toContainText('Cancelled');
  await expect(page.getByRole('alert')).toBeHidden();

  server.stalls.clear();
  server.requests.length = 0;
  server.cuts.set(WEIGHTS, CHUNK + 200_000);
  await page.getByRole('button', { name: 'Load' }).click();
  await expect(page.getByRole('alert')).toContainText('model.safetensors');
  expect(weightsAsked(server)[0]).toBe(0);

  server.cuts.clear();
  server.requests.length = 0;
  await load(page, address); // a new page has only what was stored
  await loaded(page);
  // The preflight and the load each open a request to check that the file is unchanged, and drop it.
  expect(weightsAsked(server)).toEqual([0, 0, CHUNK]);
  expect(await page.evaluate(() => 'persistAsked' in globalThis)).toBe(true);

  server.requests.length = 0;
  await load(page, address);
  await expect(page.getByRole('button', { name: `Load ${address} again` })).toBeVisible(); // the last model is offered
  await loaded(page);
  expect(server.requests).toEqual([]);

  const list = page.locator('#stored');
  await list.locator('summary').click();
  const row = list.getByRole('row').filter({ hasText: new URL(address).host });
  await expect(row).toContainText('models/target');
  await expect(row).toContainText('5.5 MB');
  await row.getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);

  const seen = await history(page, '#phase');
  await page.locator('#by-address').getByRole('button', { name: 'Load', exact: true }).click();
  await expect.poll(async () => (await seen()).some(([text]) => !text?.includes('Ready:'))).toBe(true);
  await loaded(page);
  expect(weightsAsked(server)).not.toEqual([]);
});
