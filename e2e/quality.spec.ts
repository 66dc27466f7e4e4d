// What holds for every page: no serious finding of axe in either theme, full use by keyboard, no sideways scrolling
// from a phone to a large screen, no motion if none is wanted, no console errors, a small first paint.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Browser, expect, type Page, test } from '@playwright/test';
import { audit, serious } from './axe.ts';
import { answer, loaded, ready, withoutModels } from './demo.ts';
import { root } from './server.ts';

/** The tabs of the demo, and every other page, with the sign that it has finished opening. */
const DEMO = '/?model=draft';
const TABS = [
  { name: 'race', path: `${DEMO}#race`, still: loaded },
  { name: 'inspect', path: `${DEMO}#inspect`, still: loaded },
  { name: 'chat', path: `${DEMO}#chat`, still: loaded },
  {
    name: 'structured',
    path: `${DEMO}#structured`,
    still: (page: Page) => expect(page.getByRole('button', { name: 'Write' })).toBeEnabled(),
  },
];
const PAGES = [
  {
    name: 'how',
    path: '/how.html',
    still: async (page: Page) => {
      for (const figure of await page.locator('figure').all()) {
        await figure.scrollIntoViewIfNeeded();
        await expect(figure.getByRole('slider', { name: 'Moment' })).toBeVisible();
      }
    },
  },
  {
    name: 'guide',
    path: '/repository/docs/guide/getting-started.html',
    still: (page: Page) => expect(page.getByRole('heading', { level: 1 })).toBeVisible(),
  },
  {
    name: 'benchmark',
    path: '/benchmark.html',
    still: (page: Page) => expect(page.getByRole('button', { name: 'Quick (1 minute)' })).toBeEnabled(),
  },
  {
    name: 'widget',
    path: '/widget.html',
    still: (page: Page) => expect(page.locator('outrider-chat')).toHaveCount(9),
  },
];
const THEMES = ['light', 'dark'] as const;
const WIDTHS = [320, 360, 768, 1280, 2560];
/** For people who look at them. */
const PICTURES = new Map<number, (typeof THEMES)[number]>([
  [360, 'dark'],
  [1280, 'light'],
]);

/** Sets the theme and waits until the colours have come to rest: axe would measure those of a running transition. */
const setTheme = (page: Page, theme: string): Promise<void> =>
  page.evaluate(async (name) => {
    document.documentElement.dataset.theme = name;
    const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
  }, theme);

/** What the focus can go to. */
const USABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';

/** What a theme decides. Everything else is the same in both. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Findings as text, so that a failure names the element. */
const findings = async (page: Page, theme: (typeof THEMES)[number]): Promise<readonly string[]> => {
  await setTheme(page, theme);
  return serious(await audit(page, theme === 'light' ? undefined : OF_COLOURS)).flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
  );
};

const withoutHash = (path: string): string => path.replace(/#.*/, '');

interface OpenPage {
  readonly page: Page;
  readonly address: string;
  /** Errors on the console. */
  readonly printed: readonly string[];
}

/** The page of the test before. The tabs of one page share it, and with it the models that it loaded. */
let opened: OpenPage | null = null;

const openPage = async (browser: Browser, path: string): Promise<OpenPage> => {
  const address = withoutHash(path);
  if (opened?.address !== address) {
    await opened?.page.context().close();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const printed: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && printed.push(message.text())));
    page.on('pageerror', ({ message }) => printed.push(message));
    opened = { page, address, printed };
  }
  await opened.page.goto(path); // changes the hash alone where the page is open
  return opened;
};

test.afterAll(() => opened?.page.context().close());

const checkPage = ({ name, path, still }: (typeof TABS)[number]): void =>
  test.describe(name, () => {
    let page: Page;
    let printed: readonly string[];

    test.beforeAll(async ({ browser }) => {
      ({ page, printed } = await openPage(browser, path));
      await still(page);
      await page.locator('details').evaluateAll((all) => {
        for (const one of all) (one as HTMLDetailsElement).open = true;
      });
    });

    test('axe finds nothing serious, in either theme', async () => {
      for (const theme of THEMES) expect(await findings(page, theme), theme).toEqual([]);
    });

    test('nothing scrolls sideways, from a phone to a large screen', async () => {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const theme = PICTURES.get(width);
        if (theme) {
          await setTheme(page, theme);
          const path = `test-results/${name}-${theme}-${width}.png`;
          await page.screenshot({ path, fullPage: true, animations: 'disabled' });
        }
        expect(await page.evaluate(() => document.documentElement.scrollWidth), `${width} px`).toBe(width);
      }
    });

    test('the keyboard reaches every control, and the focus is visible', async () => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.evaluate(() => window.scrollTo(0, 0));
      await page.locator('body').evaluate((body) => {
        (document.activeElement as HTMLElement | null)?.blur();
        for (const walked of body.querySelectorAll<HTMLElement>('[data-walked]')) delete walked.dataset.walked;
        body.focus();
      });
      const walk: { label: string; seen: boolean }[] = [];
      for (let i = 0; i < 200; i++) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(() => {
          let active = document.activeElement;
          while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
          if (!active || active === document.body) return null;
          const again = (active as HTMLElement).dataset.walked === 'yes';
          (active as HTMLElement).dataset.walked = 'yes';
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(
            active.closest('.choice, .drop') ?? active,
          );
          const ring = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0;
          return { label: active.id || active.outerHTML.slice(0, 60), seen: ring || boxShadow !== 'none', again };
        });
        if (at?.again) break;
        if (at) walk.push(at); // otherwise the walk has left the page and enters it again from the top
      }
      expect(walk.filter(({ seen }) => !seen)).toEqual([]);
      // One radio button of a group and one tab are tab stops; arrow keys reach the others.
      const missed = await page.evaluate((usable) => {
        return [...document.querySelectorAll<HTMLElement>(usable)]
          .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches(':disabled'))
          .filter((one) => one.tabIndex >= 0 && one.dataset.walked !== 'yes' && one.getAttribute('type') !== 'radio')
          .map((one) => one.id || one.outerHTML.slice(0, 80));
      }, USABLE);
      expect(missed).toEqual([]);
      expect(walk.length).toBeGreaterThan(5);
      await expect(page.locator(`${await page.locator('a.skip').getAttribute('href')}`)).toBeVisible();
    });

    test('nothing moves if reduced motion is wanted', async () => {
      const moving = await page.evaluate(() => {
        const slow = [...document.querySelectorAll('*')].filter((one) => {
          const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
          return /[1-9]/.test(transitionDuration) || animationName !== 'none' || scrollBehavior === 'smooth';
        });
        return slow.map((one) => one.outerHTML.slice(0, 80));
      });
      expect(moving).toEqual([]);
    });

    test('the console has no errors', () => {
      expect(printed).toEqual([]);
    });
  });

for (const each of TABS) checkPage(each);

test('on a phone the focus goes from card to card as they are seen, in every tab', async ({ browser }) => {
  for (const { name, path, still } of TABS) {
    const { page } = await openPage(browser, path);
    await still(page);
    await expect(page.locator(`#${name} .card`).first()).toBeVisible();
    await page.setViewportSize({ width: 360, height: 900 });
    const cards = await page.evaluate((usable) => {
      const stops = [...document.querySelectorAll<HTMLElement>(usable)].filter(
        (one) => one.checkVisibility({ visibilityProperty: true }) && one.tabIndex >= 0,
      );
      const named = stops.flatMap((stop) => stop.closest('main .card') ?? []);
      return [...new Set(named)].map((card) => ({
        title: card.getAttribute('aria-labelledby') ?? card.ariaLabel,
        top: card.getBoundingClientRect().top,
      }));
    }, USABLE);
    const titles = (all: typeof cards) => all.map(({ title }) => title);
    expect(titles(cards), name).toEqual(titles(cards.toSorted((a, b) => a.top - b.top)));
    expect(titles(cards), name).toContain('models-title');
    expect(cards.length, name).toBeGreaterThan(2);
  }
});

test('on a phone whose text is twice as large every tab is within the page', async ({ browser }) => {
  const page = await browser.newPage({ viewport: { width: 360, height: 740 } });
  await withoutModels(page);
  await page.goto('/');
  await page.locator('html').evaluate((html) => {
    html.style.fontSize = '200%';
  });
  for (const tab of await page.getByRole('tab').all()) {
    const { x = 0, width = Number.NaN } = (await tab.boundingBox()) ?? {};
    expect(x + width, (await tab.textContent()) ?? '').toBeLessThanOrEqual(360);
  }
  await page.close();
});

test('on a phone whose text is twice as large nothing scrolls sideways', async ({ browser }) => {
  const page = await browser.newPage({ viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' });
  await withoutModels(page);
  for (const { name, path } of [...TABS, ...PAGES]) {
    await page.goto('about:blank');
    await page.goto(path);
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%';
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    for (const figure of await page.locator('figure').all()) {
      await figure.scrollIntoViewIfNeeded();
      const slider = figure.getByRole('slider', { name: 'Moment' });
      await expect.poll(async () => (await slider.boundingBox())?.width ?? 0, name).toBeGreaterThan(80);
    }
    if (name === 'widget') await expect(page.locator('outrider-chat')).toHaveCount(9);
    if (name === 'structured') await expect(page.getByRole('button', { name: 'Write' })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBe(360);
  }
  await page.close();
});

/** What a screen reader is told of the load that this begins, in order. */
const toldOf = async (page: Page, begin: () => Promise<unknown>, end: RegExp): Promise<readonly string[]> => {
  const told = () => page.evaluate(() => (window as unknown as { told: string[] }).told);
  await begin();
  await expect.poll(async () => (await told()).at(-1) ?? '', { timeout: 240_000 }).toMatch(end);
  return page.evaluate(() => (window as unknown as { told: string[] }).told.splice(0));
};

test('every tab tells screen readers of a load: that it begins, each quarter, and how it ends', async ({ browser }) => {
  const page = await browser.newPage();
  await page.addInitScript(() => {
    const told: string[] = [];
    Object.assign(window, { told });
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest('[role=status]');
        const text = region?.checkVisibility() ? (region.textContent?.trim() ?? '') : '';
        if (/Opening|loaded|Loading|uploading|downloading|compiling|Ready|Cancelled/i.test(text)) told.push(text);
      }
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  const open = async (path: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(path);
  };
  // One engine, so that each of the two models is compiled once.
  for (const [i, { name, path }] of TABS.entries()) {
    const model = i % 2 === 0 ? 'draft' : 'mid';
    const begin = async (): Promise<void> => {
      if (i === 0) return open(path);
      await page.getByRole('tab', { name }).click();
      await page.getByRole('radio', { name: new RegExp(`^${model}`, 'i') }).check();
    };
    const [first, ...rest] = await toldOf(page, begin, new RegExp(`^Ready: ${model}`));
    expect(first, name).toBe(`Opening the bundled ${model}`);
    const quarters = rest.slice(0, -1);
    expect(quarters.length, name).toBeGreaterThan(0);
    expect(quarters, name).toEqual(
      ['25 % loaded', '50 % loaded', '75 % loaded'].filter((each) => quarters.includes(each)),
    );
  }
  await page.route('**/models/draft/**', (route) => route.fulfill({ status: 404 }));
  for (const { name, path } of TABS.slice(1)) {
    const told = await toldOf(page, () => open(path), /^Not loaded/);
    expect(told, name).toEqual(['Opening the bundled draft', 'Not loaded']);
    await expect(page.getByRole('alert'), name).toContainText('models/draft/config.json');
  }
  await page.close();
});

test('with forced colours the chosen tab and the chosen act are marked, and bars keep theirs', async ({ browser }) => {
  const context = await browser.newContext({ forcedColors: 'active' });
  const page = await context.newPage();
  await withoutModels(page);
  await page.goto('/');
  const line = (chosen: boolean) =>
    page
      .getByRole('tab', { selected: chosen })
      .first()
      .evaluate((tab) => getComputedStyle(tab).borderBottomColor);
  const canvas = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(await line(false)).toBe(canvas);
  expect(await line(true)).not.toBe(canvas);
  const act = (state: string) =>
    page
      .locator(`.switch ${state} + span`)
      .first()
      .evaluate((node) => getComputedStyle(node).backgroundColor);
  expect(await act(':checked')).not.toBe(canvas);
  expect(await act(':checked')).not.toBe(await act(':not(:checked)'));
  const bar = page.locator('progress').first();
  expect(await bar.evaluate((node) => getComputedStyle(node).backgroundColor)).not.toBe(canvas);
  await context.close();
});

test('with a run on the page axe finds nothing serious: race, inspect, chat, in both themes', async ({ browser }) => {
  const { page } = await openPage(browser, `${DEMO}#race`);
  await page.setViewportSize({ width: 1280, height: 900 });
  await ready(page);
  await answer(page);
  for (const tab of ['Race', 'Inspect', 'Chat']) {
    await page.getByRole('tab', { name: tab }).click();
    if (tab === 'Chat') {
      await page.getByRole('textbox', { name: 'Message' }).fill('Leo has 3 trees. How many are that?');
      await expect(page.getByRole('button', { name: 'Send' })).toBeEnabled(); // the tab's script is loaded
      await page.keyboard.press('Enter');
      await expect(page.getByRole('article', { name: 'Outrider' })).toHaveAttribute('aria-busy', 'false');
    }
    for (const theme of THEMES) expect(await findings(page, theme), `${tab}, ${theme}`).toEqual([]);
  }
});

for (const each of PAGES) checkPage(each);

test('arrow keys move between tabs, and each tab has an address', async ({ page }) => {
  await withoutModels(page);
  await page.goto('/');
  const tab = (name: string) => page.getByRole('tab', { name });
  await tab('Race').focus();
  await page.keyboard.press('ArrowRight');
  await expect(tab('Inspect')).toBeFocused();
  await expect(tab('Inspect')).toHaveAttribute('aria-selected', 'true');
  expect(page.url()).toMatch(/#inspect$/);
  await page.keyboard.press('End');
  await expect(tab('Structured')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(tab('Race')).toBeFocused();
  await expect(page.getByRole('tabpanel')).toHaveCount(1);
  await expect(page.locator('[role=tab][tabindex="0"]')).toHaveCount(1);
  await page.goto('about:blank');
  await page.goto('/#inspect');
  await expect(tab('Inspect')).toHaveAttribute('aria-selected', 'true');
});

const FIRST_PAINT = 100_000;

/** Scripts requested before the first paint, gzipped. */
const firstPaint = async (page: Page) => {
  const bodies = new Map<string, Promise<Buffer>>();
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script')
      bodies.set(
        response.url(),
        response.body().catch(() => Buffer.alloc(0)),
      );
  });
  await withoutModels(page);
  await page.goto('/');
  const fetched = await page.evaluate(async () => {
    const paint = await new Promise<number>((resolve) => {
      new PerformanceObserver((list) => {
        for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
      }).observe({ type: 'paint', buffered: true });
    });
    const named = [
      ...document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>('script[src], link[rel=modulepreload]'),
    ];
    const before = performance
      .getEntriesByType('resource')
      .filter(({ name, startTime }) => /\.m?js(\?|$)/.test(name) && startTime <= paint)
      .map(({ name }) => name);
    return [...new Set([...before, ...named.map((one) => ('src' in one ? one.src : one.href))])];
  });
  const sizes = await Promise.all(fetched.map(async (url) => gzipSync((await bodies.get(url)) ?? '').length));
  return { scripts: sizes.length, total: sizes.reduce((sum, bytes) => sum + bytes, 0) };
};

test('the first paint of the demo takes at most 100 kB of script', async ({ browser }) => {
  const inline = gzipSync(readFileSync(join(root, 'demo/index.html'))).length;
  // On a busy machine the paint may come late, after scripts that it does not need, so it is tried again.
  await expect(async () => {
    const page = await browser.newPage();
    const { scripts, total } = await firstPaint(page);
    await page.close();
    const description = `${total} bytes in ${scripts} scripts; page ${inline}`;
    test.info().annotations.push({ type: 'first paint', description });
    expect(scripts).toBeGreaterThan(1);
    expect(total).toBeGreaterThan(5000);
    expect(total).toBeLessThanOrEqual(FIRST_PAINT);
  }).toPass({ timeout: 120_000 });
});
