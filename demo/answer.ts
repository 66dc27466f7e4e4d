// The answer, from a run's events alone, live or recorded: text as it becomes certain, every token marked by how it came
// about. Rejected drafts stand struck through where the target refused them. Text is only ever appended, so nothing that
// was read moves; they are no part of the text either: not copied, not read out.
import type { EventOf } from '../src/trace.ts';
import { element, say } from './elements.ts';
import { finalNumber, type Problem } from './problems.ts';
import { type DecodedRound, rejectedLine, visible } from './rounds.ts';
import { LETTERS } from './votes.ts';

const REASONS = { stop: 'finished', length: 'reached the token limit', aborted: 'was stopped' } as const;

/** Of a rejected line: more would hide the answer. The round below shows all. */
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

export class AnswerView {
  readonly #box = element('answer', HTMLElement);
  readonly #verdict = element('verdict', HTMLElement);
  #text = '';
  /** Tokens so far. */
  #places = 0;
  /** Who proposed the newest. */
  #member: number | undefined;

  constructor() {
    const toggle = element('show-rejected', HTMLInputElement);
    const apply = (): void => {
      this.#box.classList.toggle('clean', !toggle.checked);
    };
    toggle.addEventListener('change', apply);
    apply();
  }

  start(): void {
    this.#text = '';
    this.#places = 0;
    this.#member = undefined;
    this.#box.replaceChildren();
    this.#box.ariaBusy = 'true';
    this.#verdict.textContent = '';
    delete this.#verdict.dataset.right;
    say('status', 'Answering');
  }

  add(round: DecodedRound): void {
    const following = this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 24;
    const tokens = round.committed.map((token) => {
      const span = marked(token, this.#places++, this.#member);
      this.#member = token.member;
      return span;
    });
    const rejected = rejectedLine(round);
    const own = round.committed.length === round.path.length;
    if (rejected.length > 0 && own) tokens.splice(-1, 0, struck(rejected));
    this.#box.append(...tokens);
    this.#text += round.committed.map(({ text }) => text).join('');
    if (following) this.#box.scrollTop = this.#box.scrollHeight;
  }

  /** `problem` is what the answer is held against. */
  end({ finish_reason: reason }: EventOf<'done'>, problem: Problem | null): void {
    let verdict = '';
    if (reason !== 'stop') verdict = `The answer ${REASONS[reason]}`;
    else if (problem) {
      const given = finalNumber(this.#text);
      const right = given === problem.result;
      this.#verdict.dataset.right = `${right}`;
      verdict = right ? `✓ Right: ${given}` : `✗ Wrong: the true answer is ${problem.result}`;
    }
    this.#verdict.textContent = verdict;
    say('status', `The answer ${REASONS[reason]}. ${verdict}. ${this.#text}`);
  }

  /** Also after a failure. */
  rest(): void {
    this.#box.ariaBusy = 'false';
  }
}
