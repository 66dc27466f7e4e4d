// First paint, layout shift, long tasks and bytes of each page, opened cold and scrolled to its end. Models are held back:
// what a page does by itself is measured. The figures go into the report and into test-results/vitals.json.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { withoutModels } from './demo.ts';
import { root } from './server.ts';

const PAGES = {
  demo: '/',
  'how it works': '/how.html',
  benchmark: '/benchmark.html',
  widget: '/widget.html',
  guide: '/repository/docs/guide/getting-started.html',
} as const;

/** A good page stays below .1 (web.dev/cls). */
const MOST_SHIFT = 0.02;

interface Vitals {
  /** Milliseconds. */
  readonly firstPaint: number;
  readonly largestPaint: number;
  readonly shift: number;
  /** Milliseconds of each task over 50 ms. */
  readonly longTasks: readonly number[];
  /** As the server sent them: the preview server does not compress. */
  readonly kilobytes: number;
  readonly requests: number;
}

interface LayoutShift extends PerformanceEntry {
  readonly hadRecentInput: boolean;
  readonly value: number;
}

/** Runs before the page's scripts. */
const watch = (): void => {
  const seen = { largest: 0, shift: 0, longTasks: [] as number[] };
  const types = {
    'largest-contentful-paint': ({ startTime }: PerformanceEntry) => {
      seen.largest = startTime;
    },
    'layout-shift': (entry: PerformanceEntry) => {
      const { hadRecentInput, value } = entry as LayoutShift;
      if (!hadRecentInput) seen.shift += value;
    },
    longtask: ({ duration }: PerformanceEntry) => void seen.longTasks.push(Math.round(duration)),
  };
  for (const [type, add] of Object.entries(types))
    new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type, buffered: true });
  Object.assign(globalThis, { vitals: seen });
};

const measure = async (page: Page, path: string): Promise<Vitals> => {
  await page.addInitScript(watch);
  await withoutModels(page);
  await page.goto(path);
  await page.waitForTimeout(1000); // what moves late moves now
  for (let y = 0; y < (await page.evaluate(() => document.documentElement.scrollHeight)); y += 600) {
    await page.mouse.wheel(0, 600);
    await page.waitForTimeout(100);
  }
  return page.evaluate(() => {
    const { largest, shift, longTasks } = (
      globalThis as unknown as { vitals: { largest: number; shift: number; longTasks: number[] } }
    ).vitals;
    const loaded = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const [document] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    const bytes = [...loaded, ...(document ? [document] : [])].reduce(
      (sum, { encodedBodySize }) => sum + encodedBodySize,
      0,
    );
    return {
      firstPaint: Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0),
      largestPaint: Math.round(largest),
      shift: Number(shift.toFixed(4)),
      longTasks,
      kilobytes: Math.round(bytes / 1000),
      requests: loaded.length + 1,
    };
  });
};

const file = join(root, 'test-results/vitals.json');

/** Adds to the figures of the other pages. */
const report = (name: string, vitals: Vitals): void => {
  test.info().annotations.push({ type: 'vitals', description: JSON.stringify(vitals) });
  mkdirSync(join(root, 'test-results'), { recursive: true });
  const all = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  writeFileSync(file, `${JSON.stringify({ ...all, [name]: vitals }, null, 2)}\n`);
};

for (const width of [1280, 360])
  for (const [name, path] of Object.entries(PAGES))
    test(`${name}, ${width} px: nothing moves while it opens and scrolls`, async ({ browser }) => {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      const vitals = await measure(page, path);
      await page.close();
      report(`${name}, ${width} px`, vitals);
      expect(vitals.firstPaint).toBeGreaterThan(0);
      expect(vitals.shift).toBeLessThanOrEqual(MOST_SHIFT);
    });
