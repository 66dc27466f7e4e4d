// One answer as it is written: tokens marked by how they came about, and the figures that the run's events fold into.
import { acceptanceLength, type EventOf, METRICS, type Metric, type TraceEvent } from '../trace/index.ts';
import { make } from './dom.ts';
import type { ChatToken } from './events.ts';

/** A word and a sign for each, for readers who cannot tell the colours apart. */
export const MARKS = {
  drafted: { part: 'accepted', text: 'draft accepted' },
  corrected: { part: 'corrected', text: 'corrected by the target' },
  bonus: { part: 'bonus', text: 'bonus token' },
  routed: { part: 'routed', text: 'step of the target' },
  forced: { part: 'forced', text: 'forced by the constraint' },
} as const;

const isMarked = (source: ChatToken['source']): source is keyof typeof MARKS => source in MARKS;

/** The most rejected drafts that are shown. */
const MOST_REJECTED = 6;

/** Spaces and line ends as they can be seen. */
const visible = (text: string): string => text.replaceAll('\n', '↵') || '∎';

/** The drafts after the last kept one. */
const rejectedLine = (
  { tokens, parents, pieces }: EventOf<'draft'>,
  { path }: EventOf<'verify'>,
): readonly string[] => {
  const line: string[] = [];
  for (let node = parents.indexOf(path.at(-1) ?? 0); node > 0; node = parents.indexOf(node))
    line.push(visible(pieces?.[node] ?? `${tokens[node]} `));
  return line;
};

export const tokensOf = ({ tokens, pieces, source }: EventOf<'commit'>): readonly ChatToken[] =>
  tokens.map((token, i) => ({ token, text: pieces?.[i] ?? `${token} `, source: source[i] ?? 'sampled' }));

interface Figure {
  readonly name: string;
  readonly title: string;
  add(event: TraceEvent): string;
}

const figure = <State, Value>(
  name: string,
  title: string,
  metric: Metric<State, Value>,
  write: (value: NonNullable<Value>) => string,
): Figure => {
  let state = metric.start;
  return {
    name,
    title,
    add(event) {
      state = metric.add(state, event);
      const value = metric.value(state);
      return value === null || value === undefined ? '–' : write(value);
    },
  };
};

const createFigures = (): readonly Figure[] => [
  figure('tokens/s', 'Tokens per second while decoding', METRICS.tokens_per_second, (value) =>
    value.toFixed(value < 9.95 ? 1 : 0),
  ),
  figure('tokens a round', 'Tokens committed in a round, on average', acceptanceLength, (value) =>
    value.toFixed(value < 9.995 ? 2 : 1),
  ),
  figure('tokens', 'Tokens of the answer', METRICS.tokens, String),
  figure('target passes', 'Passes of the target after the prompt', METRICS.target_passes, String),
];

/** The figures before the first answer. */
export const emptyFigures = (): readonly HTMLElement[] => createFigures().map((each) => readout(each)[0]);

const readout = ({ name, title }: Figure): readonly [HTMLElement, HTMLElement] => {
  const value = make('dd', { part: 'figure' }, '–');
  return [make('div', { title }, make('dt', {}, name), value), value];
};

export class AnswerView {
  readonly root = make('div', { part: 'message answer', ariaBusy: 'true' });
  readonly #figures = createFigures().map((each) => ({ each, readout: readout(each) }));
  #draft: EventOf<'draft'> | null = null;
  #verdict: EventOf<'verify'> | null = null;
  #source: ChatToken['source'] | null = null;

  /** Shown once for all answers. */
  get figures(): readonly HTMLElement[] {
    return this.#figures.map(({ readout: [row] }) => row);
  }

  add(event: TraceEvent): void {
    const values = this.#figures.map(({ each, readout: [, value] }) => [value, each.add(event)] as const);
    if (event.type === 'draft') this.#draft = event;
    if (event.type === 'verify') this.#verdict = event;
    if (event.type !== 'commit') return;
    for (const [node, text] of values) node.textContent = text;
    const spans = tokensOf(event).map((token) => this.#mark(token));
    if (spans.length === 0 && event.text) spans.push(make('span', { part: 'token' }, event.text)); // was held back
    const rejected = this.#draft && this.#verdict ? rejectedLine(this.#draft, this.#verdict) : [];
    if (rejected.length > 0) spans.splice(-1, 0, struck(rejected));
    this.root.append(...spans);
    this.#draft = null;
    this.#verdict = null;
  }

  /** Of consecutive drafts that were accepted, and of routed or forced tokens, the first has the sign. */
  #mark({ text, source }: ChatToken): HTMLElement {
    const goes = source === this.#source && ['drafted', 'routed', 'forced'].includes(source);
    this.#source = source;
    if (!isMarked(source)) return make('span', { part: 'token' }, text);
    const { part, text: title } = MARKS[source];
    return make(
      'span',
      { part: `token ${part}`, className: goes || text === '' ? source : `${source} first`, title },
      text,
    );
  }
}

const struck = (line: readonly string[]): HTMLElement => {
  const mark = make('s', { part: 'rejected' });
  mark.dataset.rejected = line.slice(0, MOST_REJECTED).join('') + (line.length > MOST_REJECTED ? '…' : '');
  return mark;
};
