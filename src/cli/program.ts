// The command line: finds the command, reads its options, runs it, and turns whatever happens into an exit status.
// 0 done · 1 the work failed · 2 the arguments are wrong · 130 interrupted. One file a command, in commands/.

import { type ErrorCode, type Fault, toFault } from '../base/errors.ts';
import { parseArguments, UsageError, WorkError } from './arguments.ts';
import { COMMON, type Command, commandHelp } from './command.ts';
import { bench } from './commands/bench.ts';
import { calibrate } from './commands/calibrate.ts';
import { chat } from './commands/chat.ts';
import { draftLogits } from './commands/draft-logits.ts';
import { generate } from './commands/generate.ts';
import { inspect } from './commands/inspect.ts';
import { logits } from './commands/logits.ts';
import { models } from './commands/models.ts';
import { score } from './commands/score.ts';
import { store } from './commands/store.ts';
import { systems } from './commands/systems.ts';
import { thresholds } from './commands/thresholds.ts';
import { tokenize } from './commands/tokenize.ts';
import { nearest } from './nearest.ts';
import { openDiskStore } from './store.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const COMMANDS: readonly Command[] = [
  generate,
  systems,
  models,
  inspect,
  store,
  bench,
  thresholds,
  calibrate,
  tokenize,
  chat,
  score,
  logits,
  draftLogits,
];

const help = (): string => {
  const rows = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(13)} ${summary}`);
  return `outrider COMMAND …: language models on your own GPU, in Node.\n\n${rows.join('\n')}\n
A model is a folder in the Hugging Face layout, a .gguf file, an https:// address of either, owner/name on Hugging Face,
an id of \`models --catalogue\`, or the name of a bundled model. \`outrider help COMMAND\` lists a command's options.
Results go to stdout, everything else to stderr. Exit status: 0 done, 1 the work failed, 2 the arguments are wrong, 130
interrupted.\n`;
};

/** `help COMMAND` is `COMMAND --help`. */
const run = async ([first, ...others]: readonly string[], terminal: Terminal): Promise<void> => {
  const [name, ...rest] = first === 'help' ? [...others, '--help'] : [first, ...others];
  if (name === undefined || name === '--help') return terminal.write(help());
  const command = COMMANDS.find((known) => known.name === name);
  if (!command && name.startsWith('-')) throw new UsageError(`unknown option ${name}`, 'The nearest is --help.');
  if (!command) {
    const names = COMMANDS.map((known) => known.name);
    throw new UsageError(`unknown command ${name}`, `The nearest is ${nearest(name, names)}; --help lists all.`);
  }
  const most = command.positionals.length + (command.optional?.length ?? 0);
  const usage = `outrider ${name} ${command.usage}`;
  const given = parseArguments({ ...command.options, ...COMMON }, rest, most, usage);
  if (given.values.help) return terminal.write(commandHelp(command));
  const missing = command.positionals[given.positionals.length];
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing}`, usage);
  await command.run(given, terminal);
};

const describe = ({ code, message, hint }: Fault): string =>
  `outrider: ${code}: ${message}${hint === '' ? '' : `\n  ${hint}`}`;

const unwritten = ({ message }: Error): Fault => ({
  code: 'bad-request',
  message: `cannot write to stdout: ${message}`,
  hint: 'Is the disk full?',
});

/** What was asked for is wrong, whether that shows before a model is loaded or needs its vocabulary. */
const WRONG_ARGUMENTS: readonly ErrorCode[] = ['bad-request', 'bad-constraint'];

/** Returns the exit status. */
export const main = async (argv: readonly string[], { root }: { readonly root: string }): Promise<number> => {
  const session = openTerminal(root);
  const { terminal } = session;
  try {
    await run(argv, terminal).finally(() => {
      const { notice } = openDiskStore();
      if (notice) terminal.note(`warning: ${notice}`);
    });
    if (session.lost) throw session.lost;
    return session.interrupted ? 130 : 0;
  } catch (error) {
    const fault = session.lost ? unwritten(session.lost) : toFault(error);
    // The reader of stdout has left: it has what it wanted.
    if (fault.code === 'aborted') return session.interrupted ? 130 : 0;
    terminal.note(argv.includes('--json') ? JSON.stringify({ error: fault }) : describe(fault));
    if (fault.code === 'bug' && error instanceof Error && !argv.includes('--json')) terminal.note(error.stack ?? '');
    return WRONG_ARGUMENTS.includes(fault.code) && !(error instanceof WorkError) && !session.lost ? 2 : 1;
  } finally {
    session.close();
  }
};
