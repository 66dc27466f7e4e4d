// A lane: the text of one run from its events alone, live or recorded, its clock and what it cost. Every token is marked by
// how it came about; rejected drafts stand struck through where the target refused them. Text is only ever appended, so
// nothing that was read moves; rejected drafts are no part of it: not copied, not read out.
import { type EventOf, METRICS, type TraceEvent } from '../../src/trace/index.ts';
import { brief, duration, Running } from './figures.ts';
import { type DecodedRound, RoundReader, rejectedLine, visible } from './rounds.ts';
import { LETTERS } from './votes.ts';

/** Of a rejected line: more would hide the answer. Inspect shows all. */
const MOST_REJECTED = 3;

/** Of tokens that one model of an ensemble proposed on end the first has its letter. */
const marked = (
  { text, source, member }: DecodedRound['committed'][number],
  place: number,
  before: number | undefined,
): HTMLElement => {
  const span = Object.assign(document.createElement('span'), { className: source, textContent: text });
  span.dataset.place = `${place}`;
  if (member === undefined || member < 0) return span;
  span.dataset.member = `${member}`;
  if (member !== before && text) span.dataset.letter = LETTERS[member] ?? '?';
  return span;
};

const struck = (line: readonly string[]): HTMLElement => {
  const mark = document.createElement('s');
  const more = line.length > MOST_REJECTED ? '…' : '';
  mark.dataset.rejected = line.slice(0, MOST_REJECTED).map(visible).join('') + more;
  return mark;
};

/** Tokens of one round, with what was rejected before the target's own. */
export const drawRound = (round: DecodedRound, place: number, before: number | undefined): readonly HTMLElement[] => {
  let member = before;
  const tokens = round.committed.map((token, i) => {
    const span = marked(token, place + i, member);
    member = token.member;
    return span;
  });
  const rejected = rejectedLine(round);
  const own = round.committed.length === round.path.length;
  return rejected.length > 0 && own ? tokens.toSpliced(-1, 0, struck(rejected)) : tokens;
};

export class Lane {
  readonly #box: HTMLElement;
  readonly #name: HTMLElement;
  readonly #clock: HTMLElement;
  readonly #facts: HTMLElement;
  #rounds = new RoundReader();
  #time = new Running(METRICS.decode_ms);
  #speed = new Running(METRICS.tokens_per_second);
  #passes = new Running(METRICS.target_passes);
  /** Tokens so far. */
  #places = 0;
  /** Who proposed the newest. */
  #member: number | undefined;
  text = '';

  constructor(root: HTMLElement) {
    const part = (selector: string): HTMLElement => root.querySelector(selector) as HTMLElement;
    this.#box = part('.text');
    this.#name = part('.lane-name');
    this.#clock = part('.lane-clock');
    this.#facts = part('.lane-facts');
  }

  start(name: string): void {
    this.#rounds = new RoundReader();
    for (const figure of [this.#time, this.#speed, this.#passes]) figure.start();
    this.text = '';
    this.#places = 0;
    this.#member = undefined;
    this.#name.textContent = name;
    this.#clock.textContent = '–';
    this.#facts.textContent = '';
    this.#box.replaceChildren();
    this.#box.ariaBusy = 'true';
  }

  /** The round that this event completed, which is shown now. */
  add(event: TraceEvent): DecodedRound | null {
    for (const figure of [this.#time, this.#speed, this.#passes]) figure.add(event);
    if (event.type === 'done') this.#end(event);
    const round = this.#rounds.add(event);
    if (!round) return null;
    const following = this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 24;
    this.#box.append(...drawRound(round, this.#places, this.#member));
    this.#places += round.committed.length;
    this.#member = round.committed.at(-1)?.member ?? this.#member;
    this.text += round.committed.map(({ text }) => text).join('');
    if (following) this.#box.scrollTop = this.#box.scrollHeight;
    this.#tell();
    return round;
  }

  /** Also after a failure. */
  rest(): void {
    this.#box.ariaBusy = 'false';
  }

  #end({ finish_reason: reason }: EventOf<'done'>): void {
    this.#tell();
    this.#clock.textContent = `${reason === 'aborted' ? '■' : '⚑'} ${duration(this.#time.value)}`;
  }

  #tell(): void {
    this.#clock.textContent = duration(this.#time.value);
    const speed = this.#speed.value;
    const passes = this.#passes.value;
    this.#facts.textContent = [
      `${this.#places} token${this.#places === 1 ? '' : 's'}`,
      speed === null ? '' : `${brief(speed)} tokens/s`,
      `${passes} target pass${passes === 1 ? '' : 'es'}`,
    ]
      .filter(Boolean)
      .join(' · ');
  }
}
