// The Structured tab: an answer by a JSON schema, a schema that is not JSON, and a system that cannot keep to a form.
import { expect, test } from '@playwright/test';

test('the answer has the form that the visitor gives, and the page says what that saved', async ({ page }) => {
  await page.goto('/#structured');
  const write = page.getByRole('button', { name: 'Write' });
  await expect(write).toBeEnabled({ timeout: 240_000 });
  const answer = page.getByRole('region', { name: 'Structured answer' });
  const validity = page.locator('#structured').getByRole('status');
  const form = page.getByRole('textbox', { name: 'The answer must be' });

  await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill(' ');
  await expect(write).toBeDisabled();
  await page.getByRole('button', { name: 'Form' }).click();
  await write.click();
  await expect(validity).toHaveText('✓ Valid: the answer has this form', { timeout: 240_000 });
  const written: unknown = JSON.parse((await answer.textContent()) ?? '');
  expect(written).toEqual({
    name: expect.stringMatching(/^(Bob|Eva|Ida)$/),
    has: expect.any(Number),
    item: expect.stringMatching(/^(books|cups|stones)$/),
  });
  expect(await answer.locator('.forced').count()).toBeGreaterThan(10);
  await expect(page.getByText(/\d+ tokens with \d+ passes of the target · \d+ forced by the form/)).toBeVisible();

  await page.getByRole('button', { name: 'Sentences' }).click();
  await expect(page.getByRole('combobox', { name: 'Kind of form' })).toHaveValue('regex');
  await page.getByRole('button', { name: 'Write' }).dblclick(); // its second click stops nothing
  await expect(answer).toContainText('The answer is 84.', { timeout: 240_000 });
  await expect(validity).toHaveText('✓ Valid: the answer has this form');

  await page.getByRole('button', { name: 'Invoice' }).click();
  await form.fill('{"type": ');
  await write.click();
  await expect(page.getByRole('alert')).toContainText('The JSON schema is not JSON');
  await expect(page.getByRole('alert')).toBeInViewport();
  await form.fill('{"type": "object", "not": {}}');
  await write.click();
  await expect(page.getByRole('alert')).toContainText('not');
});
