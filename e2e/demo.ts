// Actions of a visitor on the demo page, for tests.
import { expect, type Locator, type Page, test } from '@playwright/test';

/** Of tests that require a speed: `npm test` runs them one after another at its end, and the others in two workers. */
export const ALONE = { tag: '@alone' };

/**
 * Opens the page with a model and a system (default: the page's choice) and waits until it is ready. Meanwhile the stage
 * stands still, which takes a second of processor time less; stage.spec.ts sees it play.
 */
export const open = async (page: Page, model?: string, system?: string): Promise<void> => {
  const query = new URLSearchParams({ ...(model && { model }), ...(system && { system }) });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`/?${query}`);
  await ready(page);
  await page.emulateMedia({ reducedMotion: null });
};

/** Models are asked for and never come: a page that needs none compiles nothing. */
export const withoutModels = async (page: Page): Promise<void> => {
  await page.route('**/models/**', () => {});
};

export const ready = (page: Page): Promise<void> =>
  expect(page.getByRole('button', { name: 'Answer' })).toBeEnabled({ timeout: 240_000 });

/** The models are loaded, whether or not there is a problem that could be answered. */
export const loaded = (page: Page): Promise<void> =>
  expect(page.locator('#lamp')).toHaveAttribute('data-state', 'ready', { timeout: 240_000 });

/** One of the shortest answers among the bundled problems: every system writes it. */
export const PENS = 'Ben has 44 pens. Ben buys 4 bags with 3 pens in each bag. How many pens does Ben have now?';

/** Opens the knobs that are under Advanced. */
export const advanced = (page: Page): Promise<void> =>
  page.locator('#advanced').evaluate((details: HTMLDetailsElement) => {
    details.open = true;
  });

/** Opens the menu of the trace, which any click elsewhere closes. */
export const traceMenu = async (page: Page): Promise<void> => {
  if (!(await page.locator('#trace').isVisible())) await page.locator('#trace-menu').click();
};

/** A run has ended when the button is back and the answer is no longer busy. */
export const finished = async (page: Page): Promise<void> => {
  await expect(page.getByRole('button', { name: /^(Answer|Replay)$/ })).toBeVisible({ timeout: 240_000 });
  await expect(page.locator('#answer')).toHaveAttribute('aria-busy', 'false');
};

/** The correct answer that the page shows for the problem in the box. */
export const truth = async (page: Page): Promise<string> =>
  /^Correct answer: (\d+)$/.exec((await page.locator('#truth').textContent()) ?? '')?.[1] ?? '';

/** Runs the problem in the box. */
export const answer = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  await expect(page.locator('#fault:not([hidden])')).toHaveText([]);
};

/**
 * Records the texts of these elements whenever one of them changes. A slow test misses no text, however brief.
 */
export const history = async (
  page: Page,
  ...selectors: readonly string[]
): Promise<() => Promise<readonly (readonly string[])[]>> => {
  const seen = await page.evaluateHandle((watched) => {
    const all: string[][] = [];
    const look = (): void => {
      const now = watched.map((selector) => document.querySelector(selector)?.textContent ?? '');
      if (now.some((text, i) => text !== all.at(-1)?.[i])) all.push(now);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
    return all;
  }, selectors);
  return () => seen.jsonValue();
};

/**
 * Starts, and presses Stop in the page as soon as the text of `selector` changes; from outside it could be late. `key`:
 * presses that key instead.
 */
export const stopOnceWritten = async (
  page: Page,
  start: () => Promise<void>,
  selector: string,
  button = '#go',
  key = '',
): Promise<void> => {
  const pressed = page.evaluate(
    ([place, button, key]) =>
      new Promise<void>((resolve) => {
        const said = (): string => [...document.querySelectorAll(place)].at(-1)?.textContent?.trim() ?? '';
        const before = said();
        const press = (): void => {
          const stop = document.querySelector<HTMLButtonElement>(button);
          if (stop?.textContent !== 'Stop' || ['', '0', before].includes(said())) return;
          observer.disconnect();
          if (key) document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
          else stop.click();
          resolve();
        };
        const observer = new MutationObserver(press);
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
      }),
    [selector, button, key] as const,
  );
  await start();
  await pressed;
};

/** What a visitor does in the middle of a run. It is done in the page: from outside it could be late. */
interface Meanwhile {
  /** Elements that get another value. */
  readonly values?: Readonly<Record<string, string>>;
  /** An element that is clicked. */
  readonly click?: string;
  /** A trace that is dropped on the page. */
  readonly drop?: string;
}

/** Does this as soon as the text of the last `selector` has changed and matches. */
export const meanwhile = async (page: Page, selector: string, pattern: RegExp, acts: Meanwhile): Promise<void> => {
  await page.evaluate(
    ([place, source, { values = {}, click, drop }]) => {
      const said = (): string => [...document.querySelectorAll(place)].at(-1)?.textContent?.trim() ?? '';
      const before = said();
      const observer = new MutationObserver(() => {
        if (said() === before || !new RegExp(source).test(said())) return;
        observer.disconnect();
        for (const [control, value] of Object.entries(values)) {
          const node = document.querySelector<HTMLInputElement>(control);
          if (!node) continue;
          node.value = value;
          for (const type of ['input', 'change']) node.dispatchEvent(new Event(type, { bubbles: true }));
        }
        if (click) document.querySelector<HTMLElement>(click)?.click();
        if (drop === undefined) return;
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([drop], 'dropped.jsonl'));
        for (const type of ['dragover', 'drop'])
          document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true }));
      });
      observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    },
    [selector, pattern.source, acts] as const,
  );
};

/** The Enter that takes a candidate of an input method, as Safari sends it. */
export const takeCandidate = (box: Locator): Promise<void> =>
  box.evaluate((node) => {
    node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }));
  });

/** What would disturb a visitor while the button says Stop. */
interface Disturbances {
  readonly longTasks: readonly number[];
  /** Elements that moved without input. */
  readonly shifts: readonly string[];
  /** Frames per second. */
  readonly frames: number;
}

interface LayoutShift extends PerformanceEntry {
  readonly hadRecentInput: boolean;
  readonly sources: readonly { readonly node: Node | null }[];
}

/** Watches while the button, which may be in a shadow root, says Stop. The caller presses it. */
const watch = (page: Page, button: string): Promise<Disturbances> =>
  page.locator(button).evaluate(async (go) => {
    const seen = { longTasks: [] as number[], shifts: [] as string[] };
    const nameOf = (node: Node | null): string =>
      node instanceof Element
        ? `${node.tagName} ${node.id || node.className}`
        : `${node?.nodeName ?? 'in a shadow root'}`;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { hadRecentInput, sources = [] } = entry as LayoutShift;
        if (entry.entryType === 'longtask') seen.longTasks.push(Math.round(entry.duration));
        else if (!hadRecentInput) seen.shifts.push(sources.map(({ node }) => nameOf(node)).join(', '));
      }
    });
    while (go.textContent !== 'Stop') await new Promise((resolve) => requestAnimationFrame(resolve));
    observer.observe({ entryTypes: ['longtask', 'layout-shift'] });
    const began = performance.now();
    let frames = 0;
    while (go.textContent === 'Stop') {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      frames++;
    }
    const seconds = (performance.now() - began) / 1000;
    observer.disconnect();
    return { ...seen, frames: Math.round(frames / seconds) };
  });

const disturbances = async (page: Page, button: string): Promise<Disturbances> => {
  const seen = watch(page, button);
  await page.locator(button).click();
  return seen;
};

/** Frames per second while tokens arrive. */
const LEAST_FRAMES = 50;
const TRIES = 5;

/**
 * Presses `button` and watches while it says Stop: no long task, enough frames, and never a layout shift. The figures
 * go into the report. SwiftShader uses every core, so the scheduler may delay the page at times; a fault of the page
 * would show in every try.
 */
export const expectCalm = async (
  page: Page,
  button = '#go',
  prepare = async (): Promise<void> => {},
): Promise<void> => {
  const tries: Disturbances[] = [];
  const withoutLongTasks = (): boolean => tries.some(({ longTasks }) => longTasks.length === 0);
  const frames = (): number => Math.max(0, ...tries.map((each) => each.frames));
  while (tries.length < TRIES && !(withoutLongTasks() && frames() >= LEAST_FRAMES)) {
    await prepare();
    tries.push(await disturbances(page, button));
  }
  const description = JSON.stringify(tries);
  test.info().annotations.push({ type: 'while generating', description });
  expect(tries.flatMap(({ shifts }) => shifts)).toEqual([]);
  expect(withoutLongTasks(), description).toBe(true);
  expect(frames(), description).toBeGreaterThanOrEqual(LEAST_FRAMES);
};

/** What `work` took where limits in seconds were set, in milliseconds. */
const WORK_THEN = 80;

/** How much slower a core is for this process than where those limits were set, by its make and by what others do on it. */
export const slowness = (): number => {
  const table = new Uint32Array(1 << 16);
  const work = (): number => {
    const began = performance.now();
    for (let i = 0, seed = 1; i < 50_000_000; i++) {
      seed ^= seed << 13;
      seed ^= seed >>> 17;
      seed ^= seed << 5;
      table[seed & 0xffff] = i;
    }
    return performance.now() - began;
  };
  work(); // compiles it
  return Math.max(1, work() / WORK_THEN);
};
