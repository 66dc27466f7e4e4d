import { expect, it } from 'vitest';
import { withPatience } from './idle-timeout.ts';

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('slow work is waited for while it shows signs of life', async () => {
  const slow = async (alive: () => void): Promise<string> => {
    for (let i = 0; i < 4; i++) {
      await wait(30);
      alive();
    }
    return 'done';
  };
  await expect(withPatience(slow, 80)).resolves.toBe('done');
});

it('silence is given up', async () => {
  await expect(withPatience(() => new Promise(() => {}), 20)).rejects.toThrow('no sign of life');
});
