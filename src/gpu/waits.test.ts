import { expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { Waits } from './waits.ts';

/** A queue as Firefox has it: done work is looked for at intervals and at each submit. */
class IntervalQueue {
  submits = 0;
  #waiting: (() => void)[] = [];
  readonly #timer = setInterval(() => this.#look(), 100);

  submit(): void {
    this.submits++;
    this.#look();
  }

  onSubmittedWorkDone(): Promise<undefined> {
    return new Promise((resolve) => this.#waiting.push(() => resolve(undefined)));
  }

  #look(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

test('where finished work is looked for at intervals, a wait asks for it, and stops asking once it is over', async () => {
  using queue = new IntervalQueue();
  const waits = new Waits(queue as unknown as GPUQueue);
  await waits.measure();
  expect(queue.submits).toBe(0);
  const began = performance.now();
  for (let i = 0; i < 5; i++) await Promise.all([1, 2].map(() => waits.for(queue.onSubmittedWorkDone())));
  expect(performance.now() - began).toBeLessThan(400); // 500 at intervals of 100
  const { submits } = queue;
  expect(submits).toBeGreaterThan(0);
  await new Promise((done) => setTimeout(done, 30));
  expect(queue.submits).toBe(submits);
});

test('elsewhere it adds no submission', async () => {
  const { device } = await testGpu();
  let submits = 0;
  const onSubmittedWorkDone = () => device.queue.onSubmittedWorkDone();
  const waits = new Waits({ submit: () => submits++, onSubmittedWorkDone } as unknown as GPUQueue);
  await waits.measure();
  await waits.for(new Promise((done) => setTimeout(done, 30)));
  expect(submits).toBe(0);
});
