// One call across a worker boundary, over a message port of its own: progress and the result come back, an abort goes
// out. Faults cross as data, because structured cloning strips an error of its code and hint.
import { checkSignal } from '../base/check-signal.ts';
import { errorOf, type Fault, toFault, unlessAborted } from '../base/errors.ts';
import { refuse } from '../base/refuse.ts';

type Reply<Told, Value> = { readonly told: Told } | { readonly value: Value } | { readonly fault: Fault };

/** The worker's side: runs `work`, and closes the port when it has ended. */
export const answer = async <Told, Value>(
  port: MessagePort,
  work: (tell: (told: Told) => void, signal: AbortSignal) => Promise<Value>,
): Promise<void> => {
  const abort = new AbortController();
  const reply = (message: Reply<Told, Value>): void => port.postMessage(message);
  port.addEventListener('message', () => abort.abort());
  port.start();
  try {
    reply({ value: await work((told) => reply({ told }), abort.signal) });
  } catch (error) {
    reply({ fault: toFault(error) });
  } finally {
    port.close();
  }
};

const PLAIN = 'Only `onProgress` is a function. The signal of `run` is its second argument.';

/** What structured cloning refuses is the caller's: a function among the data, for one. */
const unsendable = (error: unknown): unknown =>
  error instanceof DOMException && error.name === 'DataCloneError'
    ? refuse(`this cannot be sent to the worker: ${error.message}`, PLAIN, { cause: error })
    : error;

/**
 * The page's side: yields what is told and returns the value. `send` hands the port over, and resolves when the call has
 * ended; `lost` fires when the other side is gone, with the reason. Leaving the loop early aborts the call. `aborted`
 * hears of an abort that was sent.
 */
export async function* ask<Told, Value>(
  send: (port: MessagePort) => Promise<unknown>,
  lost: AbortSignal,
  signal: AbortSignal | undefined,
  aborted: () => void,
): AsyncGenerator<Told, Value, undefined> {
  checkSignal(signal);
  const { port1: here, port2: there } = new MessageChannel();
  const inbox: Reply<Told, Value>[] = [];
  let wake = (): void => {};
  const deliver = (reply: Reply<Told, Value>): void => {
    inbox.push(reply);
    wake();
  };
  const abort = (): void => here.postMessage('abort');
  const stop = (): void => {
    abort();
    aborted();
  };
  here.addEventListener('message', ({ data }: MessageEvent<Reply<Told, Value>>) => deliver(data));
  here.start();
  unlessAborted(send(there), lost).catch((error: unknown) => deliver({ fault: toFault(unsendable(error)) }));
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  try {
    for (;;) {
      const reply = inbox.shift();
      if (!reply) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if ('fault' in reply) throw errorOf(reply.fault);
      if ('value' in reply) return reply.value;
      yield reply.told;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    abort(); // of no effect on a call that has ended
    here.close();
  }
}
