import { expect, test, vi } from 'vitest';
import { lazily } from './lazily.ts';

test('a part whose code cannot be fetched is fetched again, its error goes, and it is made once', async () => {
  class Shown {
    hidden = false;
  }
  const fault = new Shown();
  vi.stubGlobal('HTMLElement', Shown);
  vi.stubGlobal('document', { getElementById: () => fault });
  const offline = new TypeError('Failed to fetch dynamically imported module');
  const fetch = vi.fn<() => Promise<string>>().mockRejectedValueOnce(offline).mockResolvedValue('code');
  const make = vi.fn((code: string) => ({ code }));
  const part = lazily(fetch, make);
  await expect(part()).rejects.toMatchObject({
    code: 'download-failed',
    message: 'this part of the page could not be fetched',
    cause: offline,
  });
  expect(fault.hidden).toBe(false);
  const [first, second] = await Promise.all([part(), part()]);
  expect(first).toEqual({ code: 'code' });
  expect(second).toBe(first);
  expect(fetch).toHaveBeenCalledTimes(2);
  expect(make).toHaveBeenCalledTimes(1);
  expect(fault.hidden).toBe(true);
});
