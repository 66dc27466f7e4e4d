// Opens a cursor in the memory that there is. Where the roomy cache of a growing conversation is refused, caches that the
// run does not use go, and the cache takes exactly what the run needs. Where that is refused too, the error says what
// would fit: a cache at f16 or q8, or a shorter answer.
import { OutriderError } from '../../base/errors.ts';
import type { CachePrecision } from '../../model/interface.ts';

interface How {
  readonly capacity: number;
  readonly cache?: CachePrecision;
}

interface Wanted {
  /** Rows, the better number first. */
  readonly capacities: readonly [number, number];
  readonly cache: CachePrecision | undefined;
  /** Tokens of the answer for which a cursor of so many rows would have room. */
  readonly answerAt: (rows: number) => number;
  readonly freeOthers: () => void;
}

/** What a cache could be instead, the most exact first. */
const SMALLER: Readonly<Record<CachePrecision, readonly ('f16' | 'q8')[]>> = {
  f32: ['f16', 'q8'],
  f16: ['q8'],
  q8: [],
};

/** Steps of the search for what would fit: it ends within 2 % of the rows that the run needs. */
const STEPS = 6;

/** The error where memory does not suffice. */
const attempt = async <C>(opening: Promise<C>): Promise<C | OutriderError> => {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof OutriderError && error.code === 'out-of-memory') return error;
    throw error;
  }
};

/** The most rows that fit, of those that leave room for an answer. */
const mostRows = async (
  fits: (capacity: number) => Promise<boolean>,
  needed: number,
  answerAt: Wanted['answerAt'],
): Promise<number | null> => {
  let [fitting, refused] = [needed - answerAt(needed), needed]; // at the first number no token of an answer has room
  let found: number | null = null;
  for (let step = 0; step < STEPS && refused - fitting > 1; step++) {
    const rows = Math.floor((fitting + refused) / 2);
    if (await fits(rows)) {
      fitting = rows;
      found = rows;
    } else refused = rows;
  }
  return found;
};

export const openFitting = async <C extends Disposable>(
  open: (how: How) => Promise<C>,
  { capacities: [roomy, needed], cache, answerAt, freeOthers }: Wanted,
): Promise<C> => {
  const how = (capacity: number): How => ({ capacity, ...(cache && { cache }) });
  const first = await attempt(open(how(roomy)));
  if (!(first instanceof OutriderError)) return first;
  freeOthers();
  const exact = await attempt(open(how(needed)));
  if (!(exact instanceof OutriderError)) return exact;
  const fits = async (smaller: How): Promise<boolean> => {
    const cursor = await attempt(open(smaller));
    if (cursor instanceof OutriderError) return false;
    cursor[Symbol.dispose]();
    return true;
  };
  const tell = (hint: string, remedy?: OutriderError['remedy']): OutriderError =>
    new OutriderError('out-of-memory', `a cache for ${needed} tokens does not fit: ${exact.message}`, hint, {
      cause: exact,
      ...(remedy && { remedy }),
    });
  for (const smaller of SMALLER[cache ?? 'f32'])
    if (await fits({ capacity: needed, cache: smaller }))
      throw tell(`It fits at ${smaller}: load the models with the option cache: '${smaller}'.`, { cache: smaller });
  const rows = await mostRows((capacity) => fits(how(capacity)), needed, answerAt);
  if (rows === null) throw tell('Not even a short answer fits: choose a smaller model or precision.');
  const maxTokens = answerAt(rows);
  throw tell(`A context of ${rows} tokens fits: ask for at most ${maxTokens} tokens of answer.`, { maxTokens });
};
