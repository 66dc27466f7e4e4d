// A race lane: the text of one run, live or recorded, with its clock and figures. Each token is marked by its source,
// and rejected drafts are struck through. Text is only appended, so nothing moves while it is read. Rejected drafts are
// drawn by the style sheet, so they are neither copied nor read aloud.
import { type EventOf, METRICS, type TraceEvent } from '../../src/trace/index.ts';
import { make } from '../shared/elements.ts';
import { many } from '../shared/words.ts';
import { brief, duration, Running } from './figures.ts';
import { type DecodedRound, RoundReader, rejectedLine, visible } from './rounds.ts';
import { hasRoomForLetter, LETTERS } from './votes.ts';

/** Shown tokens of a rejected line: more would hide the answer. Inspect shows all of them. */
const MOST_REJECTED = 3;

/** A token with the colour and the sign of its source. */
export const tokenSpan = (text: string, source: string): HTMLElement => {
  const span = make('span', { className: source }, text);
  if (text.length < 2) span.dataset.narrow = '';
  return span;
};

/** Among consecutive tokens of one ensemble model, the first carries its letter. */
const marked = (
  { text, source, member }: DecodedRound['committed'][number],
  place: number,
  before: number | undefined,
): HTMLElement => {
  const span = tokenSpan(text, source);
  span.dataset.place = `${place}`;
  if (member === undefined || member < 0) return span;
  span.dataset.member = `${member}`;
  if (member !== before && hasRoomForLetter(text)) span.dataset.letter = LETTERS[member] ?? '?';
  return span;
};

const struck = (line: readonly string[]): HTMLElement => {
  const mark = make('s');
  const more = line.length > MOST_REJECTED ? '…' : '';
  mark.dataset.rejected = line.slice(0, MOST_REJECTED).map(visible).join('') + more;
  return mark;
};

/** Tokens of one round, with the rejected drafts before the target's own token. */
export const drawRound = (round: DecodedRound, place: number, before: number | undefined): readonly HTMLElement[] => {
  let member = before;
  const tokens = round.committed.map((token, i) => {
    const span = marked(token, place + i, member);
    if (span.dataset.letter || token.member === undefined || token.member < 0) member = token.member;
    return span;
  });
  const rejected = rejectedLine(round);
  const own = round.committed.length === round.path.length;
  return rejected.length > 0 && own ? tokens.toSpliced(-1, 0, struck(rejected)) : tokens;
};

/** The model whose letter is the last one among these tokens. */
export const lastLettered = (tokens: readonly HTMLElement[]): number | undefined => {
  const member = tokens.findLast(({ dataset }) => dataset.letter)?.dataset.member;
  return member === undefined ? undefined : Number(member);
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
  /** Ensembles: the model whose letter was shown last. */
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

  /** Shows and returns the round that this event completed. */
  add(event: TraceEvent): DecodedRound | null {
    for (const figure of [this.#time, this.#speed, this.#passes]) figure.add(event);
    if (event.type === 'done') this.#stopClock(event);
    const round = this.#rounds.add(event);
    if (!round) return null;
    const following = this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 24;
    const drawn = drawRound(round, this.#places, this.#member);
    this.#box.append(...drawn);
    this.#places += round.committed.length;
    this.#member = lastLettered(drawn) ?? this.#member;
    this.text += round.committed.map(({ text }) => text).join('');
    if (following) this.#box.scrollTop = this.#box.scrollHeight;
    this.#showFigures();
    return round;
  }

  /** Also called after a failure. */
  finish(): void {
    this.#box.ariaBusy = 'false';
  }

  #stopClock({ finish_reason: reason }: EventOf<'done'>): void {
    this.#showFigures();
    this.#clock.textContent = `${reason === 'aborted' ? '■' : '⚑'} ${duration(this.#time.value)}`;
  }

  #showFigures(): void {
    this.#clock.textContent = duration(this.#time.value);
    const speed = this.#speed.value;
    const passes = this.#passes.value;
    this.#facts.textContent = [
      many(this.#places, 'token'),
      speed === null ? '' : `${brief(speed)} tokens/s`,
      many(passes, 'target pass', 'target passes'),
    ]
      .filter(Boolean)
      .join(' · ');
  }
}
