// What tests do with the page, in a person's words.
import { expect, type Page } from '@playwright/test';

/** Opens the page with a model and a system (default: the page's own) and waits until it is ready. */
export const open = async (page: Page, model?: string, system?: string): Promise<void> => {
  const query = new URLSearchParams({ ...(model && { model }), ...(system && { system }) });
  await page.goto(`/?${query}`);
  await ready(page);
};

export const ready = (page: Page): Promise<void> =>
  expect(page.getByRole('button', { name: 'Answer' })).toBeEnabled({ timeout: 240_000 });

/** A run has ended when the button is back and the answer is no longer busy. */
export const finished = async (page: Page): Promise<void> => {
  await expect(page.getByRole('button', { name: /^(Answer|Replay)$/ })).toBeVisible({ timeout: 240_000 });
  await expect(page.locator('#answer')).toHaveAttribute('aria-busy', 'false');
};

/** What the page knows to be right for the problem in the box. */
export const truth = async (page: Page): Promise<string> =>
  /^True answer: (\d+)$/.exec((await page.locator('#truth').textContent()) ?? '')?.[1] ?? '';

/** Answers what is in the box. */
export const answer = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Answer' }).click();
  await finished(page);
  await expect(page.locator('#fault:not([hidden])')).toHaveText([]);
};

/** Long tasks and layout shifts while one answer is written. */
const disturbances = (page: Page) =>
  page.evaluate(async () => {
    const seen = { longTasks: [] as number[], shifts: 0 };
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.entryType === 'longtask') seen.longTasks.push(entry.duration);
        else if (!(entry as unknown as { hadRecentInput: boolean }).hadRecentInput) seen.shifts++;
      }
    });
    observer.observe({ entryTypes: ['longtask', 'layout-shift'] });
    const go = document.querySelector<HTMLButtonElement>('#go');
    go?.click();
    while (go?.textContent !== 'Stop') await new Promise((resolve) => setTimeout(resolve, 10));
    while (go?.textContent === 'Stop') await new Promise((resolve) => setTimeout(resolve, 100));
    observer.disconnect();
    return seen;
  });

/** SwiftShader takes every core, so the scheduler alone can hold up the page once; our own work would do it each time. */
export const expectCalm = async (page: Page): Promise<void> => {
  let best = await disturbances(page);
  for (let tries = 1; tries < 3 && best.longTasks.length > 0; tries++) best = await disturbances(page);
  expect(best).toEqual({ longTasks: [], shifts: 0 });
};
