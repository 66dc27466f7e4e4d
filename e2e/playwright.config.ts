// The pages in a real browser. One worker by default; .ci/test.mjs takes two, because one keeps 1.1 cores busy.
import { defineConfig } from '@playwright/test';
import { LAUNCH } from './browser.ts';

const port = 4179;
const vite = 'node node_modules/vite/bin/vite.js';
const BUILDS = [`${vite} build --logLevel warn`, `${vite} build --mode harness --logLevel warn`];
/** `npm test` builds once, among its checks. */
const builds = process.env.OUTRIDER_BUILT === '1' ? [] : BUILDS;

/** Files of 40 seconds and more: they come first, so that none of them runs alone at the end. */
const LONGEST = /(benchmark|errors|own-models|package|quality|speculation|widget|chat)\.spec\.ts$/;

export default defineConfig({
  testDir: '.',
  projects: [
    { name: 'longest', testMatch: LONGEST },
    { name: 'others', testIgnore: LONGEST },
  ],
  outputDir: '../test-results/playwright',
  workers: 1,
  fullyParallel: false,
  forbidOnly: process.env.CI === 'true',
  timeout: 600_000, // SwiftShader compiles for seconds; on busy cores, for minutes
  expect: { timeout: 120_000 },
  use: {
    baseURL: `http://localhost:${port}/`,
    launchOptions: LAUNCH,
  },
  webServer: {
    command: [...builds, `${vite} preview --port ${port} --strictPort`].join(' && '),
    cwd: '..',
    url: `http://localhost:${port}/`,
    timeout: 600_000,
  },
});
