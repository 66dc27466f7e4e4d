// Downloads are stored: a second load makes no request, and an interrupted download resumes where it stopped.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { ready } from './demo.ts';
import { root, WatchedServer } from './server.ts';

const WEIGHTS = '/models/target/model.safetensors';
/** Stored downloads have chunks of this size. */
const CHUNK = 4 * 2 ** 20;

const weightsAsked = (server: WatchedServer): number[] =>
  server.requests.filter(({ path }) => path === WEIGHTS).map(({ start }) => start);

/** A link proposes the model; Load fetches it. */
const load = async (page: Page, address: string): Promise<void> => {
  await page.goto(`/?model=${encodeURIComponent(address)}`);
  await ready(page);
  await page.locator('#by-address').getByRole('button', { name: 'Load' }).click();
};

const loaded = async (page: Page): Promise<void> => {
  await expect(page.locator('#phase')).toContainText('Ready:', { timeout: 240_000 });
  await ready(page);
};

test('an interrupted download resumes, and a second load makes no request', async ({ page }) => {
  await using server = new WatchedServer(join(root, 'public'));
  const address = `${await server.listen()}models/target/`;
  expect(statSync(join(root, 'public', WEIGHTS)).size).toBeGreaterThan(CHUNK);

  server.cuts.set(WEIGHTS, CHUNK + 200_000);
  await load(page, address);
  await expect(page.getByRole('alert')).toContainText('model.safetensors');
  expect(weightsAsked(server)[0]).toBe(0);

  server.cuts.clear();
  server.requests.length = 0;
  await load(page, address); // a new page has only what was stored
  await loaded(page);
  // The preflight and the load each open a request to check that the file is unchanged, and drop it.
  expect(weightsAsked(server)).toEqual([0, 0, CHUNK]);

  server.requests.length = 0;
  await load(page, address);
  await loaded(page);
  expect(server.requests).toEqual([]);
});

test('a cancelled load leaves a page that loads again', async ({ page }) => {
  await using server = new WatchedServer(join(root, 'public'));
  server.cuts.set(WEIGHTS, 100_000);
  await load(page, `${await server.listen()}models/target/`);
  await expect.poll(() => weightsAsked(server).length).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('#phase')).toContainText('Cancelled');
  await expect(page.getByRole('alert')).toBeHidden();
  server.cuts.clear();
  await page.getByRole('button', { name: 'Load' }).click();
  await loaded(page);
});
