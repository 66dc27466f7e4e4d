// `npm run pictures`: takes the pictures of the demo that the documents show, into docs/images/. Build the demo first.
// The browser runs WebGPU in software, so every machine gives the same page.
import { join, resolve } from 'node:path';
import { chromium } from '@playwright/test';
import { preview } from 'vite';
import { findChromium } from '../.ci/machine.mjs';
import { listenForLoss } from '../e2e/lost-device.mjs';

const root = resolve(import.meta.dirname, '..');
const server = await preview({ logLevel: 'warn', preview: { port: 4178 } });
const address = server.resolvedUrls?.local[0] ?? 'http://localhost:4178/';
const browser = await chromium.launch({
  executablePath: findChromium() ?? 'chromium',
  args: ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--headless=new', '--no-sandbox'],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
page.setDefaultTimeout(240_000);

/** @param {string} name @param {string} [part] */
const shoot = async (name, part = 'body') => {
  await page.evaluate(() => scrollTo(0, 0));
  const path = join(root, `docs/images/${name}.png`);
  await page.locator(part).screenshot({ path, animations: 'disabled' });
  console.log(name);
};
const ready = () => page.locator('#lamp[data-state=ready]').waitFor();
/** @param {string} system */
const choose = async (system) => {
  await page.locator('#system').selectOption(system);
  await ready();
};
/** @param {string} button */
const run = async (button) => {
  await page.locator(`${button}:enabled`).click();
  await page.locator('#go', { hasText: 'Stop' }).waitFor();
  await page.locator('#go', { hasText: 'Answer' }).waitFor();
};

await page.goto(address);
for (const scheme of /** @type {const} */ (['light', 'dark'])) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.locator('#stage-at').fill('12'); // the end, which compares both
  await page.locator('.scene.current .stage-factor').waitFor();
  await page.locator('#stage-at').blur();
  await shoot(`stage-${scheme}`, '#stage');
}
await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
await ready();
await run('#race-go');
await shoot('race', '#race .card.answer');
await page.locator('#tab-inspect').click();
await shoot('inspect', '#inspect');
await page.locator('#tab-race').click();
await choose('cos');
await page.locator('#member').selectOption('both');
await ready();
await run('#go');
await shoot('page-ensemble', '#race .card.answer');
await choose('rsd');
await page
  .locator('#problem')
  .fill(
    'Tom has 21 beads. Hugo gets 6 more beads than Tom. Max gets 18 fewer beads than Hugo. How many beads does Max have?',
  );
await run('#go');
await shoot('page-steps', '#race .card.answer');
await page.goto(`${address}benchmark.html`);
await page.locator('#quick:enabled').click();
await page.locator('#status', { hasText: 'Finished' }).waitFor();
await shoot('benchmark');
await page.goto(`${address}widget.html`);
await page.locator('outrider-chat[trace]').first().getByText('The answer is complete').waitFor({ state: 'attached' });
await shoot('widget-light');
const losing = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
await listenForLoss(losing);
await losing.goto(`${address}?system=autoregressive`);
await losing.locator('#go:enabled').click();
await losing.locator('#answer [data-place="3"]').waitFor();
await losing.evaluate(() => new BroadcastChannel('lose').postMessage(''));
await losing.locator('#drafting', { hasText: 'and the answer goes on' }).waitFor();
await losing.locator('#go', { hasText: 'Answer' }).waitFor();
await losing
  .locator('#race .card.answer')
  .screenshot({ path: join(root, 'docs/images/device-lost.png'), animations: 'disabled' });
await browser.close();
await server.close();
