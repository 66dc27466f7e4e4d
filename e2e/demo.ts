// What tests do with the page, in a person's words.
import { expect, type Page } from '@playwright/test';

/** Opens the page with a model (default: the bundled target) and waits until it is ready. */
export const open = async (page: Page, model?: string): Promise<void> => {
  await page.goto(model ? `/?model=${encodeURIComponent(model)}` : '/');
  await ready(page);
};

export const ready = (page: Page): Promise<void> =>
  expect(page.getByRole('button', { name: 'Answer' })).toBeEnabled({ timeout: 240_000 });

/** A run has ended when the button is back and the answer is no longer busy. */
export const finished = async (page: Page): Promise<void> => {
  await expect(page.getByRole('button', { name: /^(Answer|Replay)$/ })).toBeVisible({ timeout: 240_000 });
  await expect(page.locator('#answer')).toHaveAttribute('aria-busy', 'false');
};
