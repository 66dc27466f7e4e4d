// The two streams of a command: stdout carries results and nothing else; progress, warnings and the device line go to
// stderr. A reader that goes away (`| head`) and Ctrl-C both end the run through the one signal.

export interface Terminal {
  /** The project's or the package's folder, where the bundled models are. */
  readonly root: string;
  /** Fires on Ctrl-C, and when the reader of stdout has left. */
  readonly signal: AbortSignal;
  /** stdout is a terminal and NO_COLOR is not set. */
  readonly colour: boolean;
  /** Writes to stdout; resolves when the reader has taken it. */
  write(text: string): Promise<void>;
  /** One JSON value as one line of stdout. */
  json(value: unknown): Promise<void>;
  /** One line to stderr. */
  note(line: string): void;
  /** A line on stderr that the next one replaces; on a terminal only. */
  progress(line: string): void;
}

export interface Session {
  readonly terminal: Terminal;
  /** Ctrl-C was pressed. */
  readonly interrupted: boolean;
  /** Why stdout took no more, other than that its reader left; or null. */
  readonly lost: Error | null;
  close(): void;
}

export const openTerminal = (root: string): Session => {
  const { stdout, stderr } = process;
  const abort = new AbortController();
  let interruptedAt = 0;
  let passing = false;
  let lost: Error | null = null;

  const clear = (): void => {
    if (passing) stderr.write('\r\x1b[2K');
    passing = false;
  };
  const onInterrupt = (): void => {
    // npm passes on a Ctrl-C that the terminal has already sent here: only a later one means "leave now".
    if (interruptedAt > 0 && performance.now() - interruptedAt > 500) process.exit(130);
    interruptedAt ||= performance.now();
    abort.abort();
  };
  const onPipeError = (error: NodeJS.ErrnoException): void => {
    // A reader that has gone has what it wanted; a full disk has not.
    if (error.code !== 'EPIPE') lost ??= error;
    abort.abort();
  };
  process.on('SIGINT', onInterrupt);
  stdout.on('error', onPipeError);
  // Results still come where notes cannot be written. The listener stays: the last notes fail after `close`.
  stderr.on('error', () => {});

  const write = (text: string): Promise<void> => {
    clear();
    if (text === '' || stdout.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      stdout.write(text, () => resolve());
    });
  };
  return {
    terminal: {
      root,
      signal: abort.signal,
      colour: stdout.isTTY === true && !process.env.NO_COLOR,
      write,
      json: (value) => write(`${JSON.stringify(value)}\n`),
      note(line) {
        clear();
        stderr.write(`${line}\n`);
      },
      progress(line) {
        if (!stderr.isTTY) return;
        stderr.write(`\r\x1b[2K${line}`);
        passing = true;
      },
    },
    get interrupted() {
      return interruptedAt > 0;
    },
    get lost() {
      return lost;
    },
    close() {
      clear();
      process.off('SIGINT', onInterrupt);
      stdout.off('error', onPipeError);
    },
  };
};
