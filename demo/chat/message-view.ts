// One turn as it stands in the log: what was said, what it cost, and what can be done with it.
import { METRICS, type TraceEvent } from '../../src/trace/index.ts';
import { brief, Running } from '../run/figures.ts';
import { drawRound } from '../run/lane.ts';
import { type DecodedRound, RoundReader } from '../run/rounds.ts';

const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  text = '',
): HTMLElementTagNameMap[Tag] => Object.assign(document.createElement(tag), { className, textContent: text });

export const action = (label: string, about: string, press: () => void): HTMLButtonElement => {
  const button = make('button', 'quiet small', label);
  button.type = 'button';
  button.ariaLabel = about;
  button.addEventListener('click', press);
  return button;
};

/** Says for a moment that it has been done. */
export const copyAction = (text: () => string): HTMLButtonElement => {
  const button = action('Copy', 'Copy this turn', async () => {
    const done = await navigator.clipboard.writeText(text()).then(
      () => 'Copied',
      () => 'Not allowed',
    );
    button.textContent = done;
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  return button;
};

class TurnView {
  readonly root: HTMLElement;
  readonly body = make('div', 'text');
  readonly about = make('p', 'muted');
  readonly actions = make('div', 'row tight');

  constructor(role: 'user' | 'assistant', who: string) {
    this.root = make('article', `turn ${role}`);
    this.root.ariaLabel = who;
    // Above the text, which grows: below it they would move with every line.
    const head = make('div', 'row between head');
    head.append(this.about, this.actions);
    this.root.append(make('h3', 'hidden', who), head, this.body);
  }
}

/** A question: it can be put in other words where it stands. */
export class QuestionView extends TurnView {
  constructor(content: string, edit: (content: string) => void) {
    super('user', 'You');
    this.body.textContent = content;
    const change = action('Edit', 'Edit this question', () => this.#edit(content, edit));
    this.actions.append(
      copyAction(() => content),
      change,
    );
  }

  #edit(content: string, edit: (content: string) => void): void {
    const box = make('textarea', '');
    box.value = content;
    box.ariaLabel = 'The question, in other words';
    const row = make('div', 'row tight');
    const back = (): void => {
      box.replaceWith(this.body);
      row.replaceWith(this.actions);
    };
    const send = (): void => {
      if (box.value.trim() !== '') edit(box.value.trim());
    };
    box.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') back();
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      send();
    });
    row.append(
      action('Ask this', 'Ask this; what follows the question goes', send),
      action('Leave it', 'Leave it as it was', back),
    );
    this.body.replaceWith(box);
    this.actions.replaceWith(row);
    box.focus();
  }
}

const ENDS = { stop: '', length: 'token limit reached', aborted: 'stopped' } as const;

/** An answer, as its events come in. */
export class AnswerView extends TurnView {
  text = '';
  readonly #rounds = new RoundReader();
  readonly #figures = {
    prompt: new Running(METRICS.prompt_tokens),
    reused: new Running(METRICS.reused_tokens),
    tokens: new Running(METRICS.tokens),
    speed: new Running(METRICS.tokens_per_second),
    tau: new Running(METRICS.tokens_per_round),
  };
  #places = 0;
  #last: DecodedRound | null = null;

  constructor() {
    super('assistant', 'Outrider');
    this.root.ariaBusy = 'true';
    this.about.textContent = 'Reading …';
  }

  add(event: TraceEvent): void {
    for (const figure of Object.values(this.#figures)) figure.add(event);
    if (event.type === 'queued') this.about.textContent = `Waiting for ${event.ahead} other run`;
    const round = this.#rounds.add(event);
    if (round) {
      this.body.append(...drawRound(round, this.#places, this.#last?.committed.at(-1)?.member));
      this.#places += round.committed.length;
      this.#last = round;
      this.text += round.committed.map(({ text }) => text).join('');
    }
    if (round || event.type === 'done') this.#tell(event.type === 'done' ? ENDS[event.finish_reason] : '');
  }

  /** Also after a failure. */
  rest(): void {
    this.root.ariaBusy = 'false';
  }

  #tell(end: string): void {
    const { prompt, reused, tokens, speed, tau } = this.#figures;
    this.about.textContent = [
      `${tokens.value} tokens`,
      speed.value === null ? '' : `${brief(speed.value)} tokens/s`,
      tau.value === null ? '' : `${tau.value.toFixed(1)} a round`,
      `${reused.value} of ${prompt.value} prompt tokens from the cache`,
      end,
    ]
      .filter(Boolean)
      .join(' · ');
  }
}
