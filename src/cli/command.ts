// A command: its options as data, and a function that runs it. `program.ts` does the rest for all commands.
import { describeOptions, flag, type Options, type Values } from './arguments.ts';
import type { Terminal } from './terminal.ts';

/** Every command takes these. */
export const COMMON = {
  json: flag('results and errors as JSON lines'),
  help: flag('this page'),
} as const;

export interface Command<O extends Options = Options> {
  readonly name: string;
  readonly summary: string;
  /** What follows the name on the help page's first line. */
  readonly usage: string;
  /** A sentence after the summary on the help page. */
  readonly about?: string;
  /** Names of the arguments that it needs besides options. */
  readonly positionals: readonly string[];
  /** Names of arguments that may follow them. */
  readonly optional?: readonly string[];
  readonly options: O;
  readonly run: (
    given: { readonly values: Values<O & typeof COMMON>; readonly positionals: readonly string[] },
    terminal: Terminal,
  ) => Promise<void>;
}

/** Keeps the option types for `run` and forgets them for the list of commands. */
export const defineCommand = <const O extends Options>(command: Command<O>): Command => command as unknown as Command;

export const commandHelp = ({ name, summary, usage, about, options }: Command): string =>
  `${[`outrider ${name} ${usage}`, summary, ...(about ? [about] : [])].join('\n')}\n\n${describeOptions({ ...options, ...COMMON })}\n`;
