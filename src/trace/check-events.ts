// Checks events that come from outside: a file, a link, another page. The sender chooses every value,
// so each field's kind and range is checked once, here, and every view and fold may rely on them afterwards: parents
// that come before their nodes, paths that lie within their tree, lists of equal length. Event types that are not
// listed are of a newer version and pass unread.
import type { TraceEvent, TraceEventType } from './events.ts';

/** One field: a test, and what it tests for, in words. */
interface Field {
  readonly is: (value: unknown) => boolean;
  readonly what: string;
}

/** No list of a real trace comes near: a context of a million tokens is the longest prompt that models have. */
const LONGEST_LIST = 2 ** 20;

/** Trees have up to 64 nodes. Views walk them node by node. */
const MOST_NODES = 1024;

const field = (what: string, is: Field['is']): Field => ({ is, what });
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const number = field('a number', Number.isFinite);
const count = field('a whole number from 0 on', (value) => Number.isSafeInteger(value) && (value as number) >= 0);
const index = field('a whole number from -1 on', (value) => Number.isSafeInteger(value) && (value as number) >= -1);
const text = field('text', (value) => typeof value === 'string');
/** One of a newer version passes. Those that read traces keep roles as keys: `toString` would be found in any object. */
const role = field('a role', (value) => typeof value === 'string' && !(value in {}));
const flag = field('true or false', (value) => typeof value === 'boolean');
const oneOf = (...words: readonly string[]): Field =>
  field(`one of ${words.join(', ')}`, (value) => words.some((word) => word === value));
const listOf = (entry: Field): Field =>
  field(
    `a list, each entry ${entry.what}`,
    (value) => Array.isArray(value) && value.length <= LONGEST_LIST && value.every(entry.is),
  );
const orNull = ({ is, what }: Field): Field => field(`${what}, or null`, (value) => value === null || is(value));
const optional = ({ is, what }: Field): Field =>
  field(`${what}, or absent`, (value) => value === undefined || value === null || is(value));
const valuesOf = (entry: Field): Field =>
  field(`an object, each value ${entry.what}`, (value) => isObject(value) && Object.values(value).every(entry.is));
const record = (fields: Readonly<Record<string, Field>>): Field =>
  field(
    `an object with ${Object.keys(fields).join(', ')}`,
    (value) => isObject(value) && Object.entries(fields).every(([name, { is }]) => is(value[name])),
  );

const tokens = listOf(count);
const texts = listOf(text);
const source = oneOf('sampled', 'drafted', 'corrected', 'bonus', 'routed', 'forced');
const range = field(
  'two numbers',
  (value) => Array.isArray(value) && value.length === 2 && value.every(Number.isFinite),
);
const fault = record({ code: text, message: text, hint: text });
const tokenText = { token: count, text: orNull(text), logprob: number };
const knob = field(
  'a number, text or a list of numbers',
  (value) => number.is(value) || text.is(value) || listOf(number).is(value),
);

export const FIELDS: { readonly [Type in TraceEventType]: Readonly<Record<string, Field>> } = {
  queued: { ahead: count },
  run: {
    version: field('1: other versions of traces are not known here', (value) => value === 1),
    system: text,
    knobs: valuesOf(knob),
    prompt: tokens,
    seed: optional(count),
    escalates: optional(oneOf('high', 'low')),
    threshold: optional(text),
    models: optional(valuesOf(text)),
    format: optional(
      record({ tools: orNull(text), reasoning: orNull(record({ open: text, close: text, begun: flag })) }),
    ),
  },
  prefill: { by: role, rows: count, reused: count, passes: optional(count), ms: number, step: optional(count) },
  draft: {
    round: count,
    by: role,
    tokens,
    parents: listOf(index),
    pieces: optional(texts),
    forced: optional(count),
    passes: count,
    ms: number,
    step: optional(count),
  },
  verify: {
    round: count,
    by: role,
    path: tokens,
    next: count,
    source,
    checked: optional(listOf(role)),
    probabilities: optional(listOf(record({ target: number, draft: orNull(number) }))),
    passes: optional(valuesOf(count)),
    ms: number,
    step: optional(count),
  },
  'block-size': {
    size: count,
    candidates: listOf(count),
    tau: listOf(number),
    round_ms: listOf(number),
    ms: number,
    step: optional(count),
  },
  'fall-back': {
    round: count,
    to: oneOf('plain', 'speculation'),
    speculative_ms: orNull(number),
    plain_ms: orNull(number),
    step: optional(count),
  },
  calibration: { calibrated: flag, logprob: range, grounding: orNull(range) },
  candidates: {
    round: count,
    step: count,
    by: role,
    tokens: listOf(tokens),
    pieces: optional(listOf(texts)),
    written: count,
    passes: count,
    ms: number,
  },
  route: {
    round: optional(count),
    step: count,
    by: role,
    to: role,
    score: orNull(number),
    threshold: number,
    reason: text,
    chosen: optional(count),
    judge_ms: optional(number),
    signals: optional(record({ logprob: number, grounding: orNull(number) })),
    fault: optional(fault),
  },
  step: {
    step: count,
    by: role,
    tokens: count,
    ids: optional(tokens),
    pieces: optional(texts),
    ends: optional(oneOf('delimiter', 'stop', 'length')),
    ms: number,
    written: optional(count),
  },
  remote: {
    model: text,
    tokens: count,
    tries: count,
    first_ms: orNull(number),
    ms: number,
    fault: orNull(fault),
  },
  commit: {
    round: count,
    tokens,
    source: listOf(source),
    text: orNull(text),
    pieces: optional(texts),
    logprobs: optional(listOf(record({ ...tokenText, top: listOf(record(tokenText)) }))),
    by: optional(listOf(orNull(role))),
    votes: optional(
      listOf(
        record({
          r: number,
          own: listOf(record({ by: role, token: count, text: optional(text), probability: number, committed: number })),
        }),
      ),
    ),
    ms: number,
  },
  kernels: {
    round: count,
    dispatches: count,
    submits: count,
    readbacks: count,
    readback_bytes: optional(count),
    spans: listOf(record({ name: text, ms: number })),
  },
  'device-lost': { round: count, fault },
  recovered: { round: count, ms: number },
  constraint: { kind: oneOf('json_schema', 'regex', 'grammar', 'choice', 'reasoning'), cached: flag, ms: number },
  prompt: {
    text: orNull(text),
    tokens: listOf(record({ ...tokenText, logprob: orNull(number), top: listOf(record(tokenText)) })),
    ms: number,
  },
  done: {
    finish_reason: oneOf('stop', 'length', 'aborted'),
    stop: field('a token, text or null', (value) => value === null || count.is(value) || text.is(value)),
    text: orNull(text),
    constraint: optional(record({ valid: flag, forced: count, masked: count, ms: number })),
  },
};

/** Lists of a commit or a draft that have one entry for each token. */
const ALONGSIDE = ['pieces', 'source', 'logprobs', 'by', 'votes', 'parents'] as const;

/** Looks at the events of one trace in their order. */
export class EventChecker {
  /** Nodes of the round's draft; null where there is none to hold a path against. */
  #nodes: number | null = null;

  /** What is wrong with the next event, or null. */
  problem(value: unknown): string | null {
    if (!isObject(value)) return 'it is not an object';
    const { type, at } = value;
    if (typeof type !== 'string') return 'it has no type';
    if (!number.is(at)) return 'its time (at) is not a number';
    if (!Object.hasOwn(FIELDS, type)) return null;
    for (const [name, { is, what }] of Object.entries(FIELDS[type as TraceEventType]))
      if (!is(value[name])) return `the ${name} of a ${type} event must be ${what}`;
    return this.#together(value as unknown as TraceEvent);
  }

  /** Rules across fields, and across the events of a round. */
  #together(event: TraceEvent): string | null {
    switch (event.type) {
      case 'draft': {
        this.#nodes = event.tokens.length;
        if (event.tokens.length === 0) return 'a draft needs node 0, the last committed token';
        if (event.tokens.length > MOST_NODES) return `a draft has more than ${MOST_NODES} nodes`;
        const wrong = event.parents.findIndex((parent, node) =>
          node === 0 ? parent !== -1 : parent < 0 || parent >= node,
        );
        if (wrong >= 0) return `node ${wrong} of a draft names ${event.parents[wrong]} as its parent`;
        return unequal(event);
      }
      case 'verify': {
        const nodes = event.checked ? event.checked.length + 1 : this.#nodes;
        const ascends = event.path.every((node, i) => (i === 0 ? node === 0 : node > (event.path[i - 1] as number)));
        if (!ascends) return 'the path of a verify event must ascend from node 0';
        if (nodes !== null && (event.path.at(-1) ?? 0) >= nodes) return 'the path of a verify event leaves its draft';
        return null;
      }
      case 'commit':
        this.#nodes = null;
        return unequal(event);
      case 'block-size':
        return event.tau.length === event.candidates.length && event.round_ms.length === event.candidates.length
          ? null
          : 'a block-size event needs tau and round_ms for each of its candidates';
      case 'candidates':
        return event.pieces && event.pieces.length !== event.tokens.length
          ? 'a candidates event needs pieces for each of its candidates'
          : null;
      default:
        return null;
    }
  }
}

const unequal = (event: object & { readonly type: string; readonly tokens: readonly number[] }): string | null => {
  const lists = event as unknown as Readonly<Record<string, unknown>>;
  const name = ALONGSIDE.find((each) => {
    const list = lists[each];
    return Array.isArray(list) && list.length !== event.tokens.length;
  });
  return name ? `the ${name} of a ${event.type} event must have an entry for each token` : null;
};
