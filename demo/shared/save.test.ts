import { resolveObjectURL } from 'node:buffer';
import { expect, test, vi } from 'vitest';
import { saveFile } from './save.ts';

test('a file can still be read after the click, and is let go later', () => {
  vi.useFakeTimers();
  const link = { href: '', download: '', click: vi.fn(), append: () => {} };
  vi.stubGlobal('document', { createElement: () => link });
  saveFile('a.txt', 'text', 'text/plain');
  expect(link.click).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(10_000);
  expect(resolveObjectURL(link.href)?.size).toBe(4);
  vi.runAllTimers();
  expect(resolveObjectURL(link.href)).toBeUndefined();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
