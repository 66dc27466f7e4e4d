import { expect, it } from 'vitest';
import { withIdleTimeout } from './idle-timeout.ts';

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('slow work may take its time while it shows progress', async () => {
  const slow = async (onProgress: () => void): Promise<string> => {
    for (let i = 0; i < 4; i++) {
      await wait(30);
      onProgress();
    }
    return 'done';
  };
  await expect(withIdleTimeout(slow, 80)).resolves.toBe('done');
});

it('work without progress is rejected', async () => {
  await expect(withIdleTimeout(() => new Promise(() => {}), 20)).rejects.toThrow('no progress');
});
