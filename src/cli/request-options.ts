// Options about what is written, which generate and bench share: how tokens are drawn, the constraint, and the document.
import { type Constraint, checkConstraint } from '../constraint/constraint.ts';
import type { RunRequest } from '../engine/request.ts';
import { integer, number, text, UsageError, type Values } from './arguments.ts';
import { readTextFile } from './messages.ts';

export const requestOptions = {
  'top-k': integer('N', 'sample among the N most probable tokens', { least: 0, most: 2 ** 31 }),
  'top-p': number('P', 'sample among the fewest tokens that hold this much probability', { least: 0, most: 1 }),
  'min-p': number('P', 'sample among tokens at least P times as probable as the first', { least: 0, most: 1 }),
  constraint: text(
    'F',
    'the answer’s form, a JSON file: {"json_schema": …}, {"regex": …}, {"grammar": …}, {"choice": […]}',
  ),
  document: text('F', 'a text that the answer may quote: look-ups draft from it (suffix-decoding, combined)'),
} as const;

/** Drops undefined options: the engine's defaults apply to absent ones. */
export const compact = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

export const readJson = (content: string, what: string): unknown => {
  try {
    return JSON.parse(content);
  } catch (cause) {
    throw new UsageError(`${what}: not JSON: ${cause instanceof Error ? cause.message : cause}`);
  }
};

const readConstraint = async (file: string): Promise<Constraint> =>
  checkConstraint(readJson(await readTextFile(file), file));

export type Written = Pick<RunRequest, 'topK' | 'topP' | 'minP' | 'constraint' | 'document'>;

/** Files are read before a model is loaded, so that a wrong name does not cost a minute. */
export const readWritten = async (given: Values<typeof requestOptions>): Promise<Written> =>
  compact({
    topK: given['top-k'],
    topP: given['top-p'],
    minP: given['min-p'],
    constraint: given.constraint === undefined ? undefined : await readConstraint(given.constraint),
    document: given.document === undefined ? undefined : await readTextFile(given.document),
  });
