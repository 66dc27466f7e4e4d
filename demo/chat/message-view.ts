// A message in the chat log: its text, its figures, and its buttons. An answer with Markdown is shown formatted once it
// is whole; a button shows its tokens, as they were drafted and accepted.
import { acceptanceLength, METRICS, type TraceEvent } from '../../src/trace/index.ts';
import { brief, Running } from '../run/figures.ts';
import { interruptionSentence } from '../run/interruption.ts';
import { drawRound } from '../run/lane.ts';
import { type DecodedRound, RoundReader } from '../run/rounds.ts';
import { isComposing } from '../shared/composing.ts';
import { copyOnClick } from '../shared/copy.ts';
import { make } from '../shared/elements.ts';
import { many } from '../shared/words.ts';
import { drawMarkdown, parseMarkdown } from './markdown.ts';

export const action = (label: string, about: string, press: () => void): HTMLButtonElement => {
  const button = make('button', { type: 'button', className: 'quiet small', ariaLabel: about }, label);
  button.addEventListener('click', press);
  return button;
};

/** A Copy button, which reports the result for a moment. */
export const copyAction = (text: () => string): HTMLButtonElement => {
  const button = action('Copy', 'Copy this message', () => {});
  copyOnClick(button, text);
  return button;
};

class MessageView {
  readonly root: HTMLElement;
  readonly body = make('div', { className: 'text' });
  readonly about = make('p', { className: 'muted' });
  readonly actions = make('div', { className: 'row tight' });

  constructor(role: 'user' | 'assistant', name: string) {
    // The buttons are above the text: below it they would move while it grows.
    const head = make('div', { className: 'row between head' }, this.about, this.actions);
    const heading = make('h3', { className: 'hidden' }, name);
    this.root = make('article', { className: `message ${role}`, ariaLabel: name }, heading, head, this.body);
  }
}

interface QuestionActions {
  /** Asks the edited question. */
  ask(content: string): void;
  /** The box is open, and the button "Ask again" is there. */
  opened(): void;
  /** The box is closed, and the question is as it was. */
  closed(): void;
}

/** A question, which can be edited in place. */
export class QuestionView extends MessageView {
  constructor(content: string, actions: QuestionActions) {
    super('user', 'You');
    this.body.textContent = content;
    const change = action('Edit', 'Edit this question', () => this.#edit(content, actions));
    this.actions.append(
      copyAction(() => content),
      change,
    );
  }

  #edit(content: string, { ask, opened, closed }: QuestionActions): void {
    const box = make('textarea', { value: content, ariaLabel: 'Edited question' });
    const row = make('div', { className: 'row tight' });
    const back = (): void => {
      box.replaceWith(this.body);
      row.replaceWith(this.actions);
      closed();
    };
    const send = (): void => {
      if (box.value.trim() !== '') ask(box.value.trim());
    };
    box.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        event.stopPropagation(); // it would also stop a running answer
        back();
      }
      if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      send();
    });
    const again = action('Ask again', 'Ask again and remove the messages after this one', send);
    again.classList.add('again');
    row.append(again, action('Cancel', 'Cancel editing', back));
    this.body.replaceWith(box);
    this.actions.replaceWith(row);
    box.focus();
    opened();
  }
}

const ENDS = { stop: '', length: 'token limit reached', aborted: 'stopped' } as const;

/** An answer, which grows with the events of its run. */
export class AnswerView extends MessageView {
  text = '';
  readonly #formatted = make('div', { className: 'text formatted' });
  readonly #toggle = action('Show tokens', 'Show the tokens of this answer', () => this.#flip());
  #rounds = new RoundReader();
  readonly #figures = {
    prompt: new Running(METRICS.prompt_tokens),
    reused: new Running(METRICS.reused_tokens),
    tokens: new Running(METRICS.tokens),
    speed: new Running(METRICS.tokens_per_second),
    tau: new Running(acceptanceLength),
  };
  #places = 0;
  #done = false;
  #last: DecodedRound | null = null;

  constructor() {
    super('assistant', 'Outrider');
    this.root.ariaBusy = 'true';
    this.about.textContent = 'Reading the prompt …';
  }

  /** An answer of an earlier visit: its text, without its tokens. */
  static restored(text: string): AnswerView {
    const view = new AnswerView();
    view.text = text;
    view.body.textContent = text;
    view.about.textContent = 'From an earlier visit';
    view.root.ariaBusy = 'false';
    view.#format();
    return view;
  }

  /** The button between formatted text and tokens, where there is something to format. */
  get toggle(): readonly HTMLElement[] {
    return this.#formatted.isConnected ? [this.#toggle] : [];
  }

  #format(): void {
    const parts = parseMarkdown(this.text);
    if (!parts) return;
    this.#formatted.replaceChildren(...drawMarkdown(parts));
    this.body.after(this.#formatted);
    this.#show(true);
  }

  #flip(): void {
    this.#show(this.body.hidden === false);
  }

  #show(formatted: boolean): void {
    this.body.hidden = formatted;
    this.#formatted.hidden = !formatted;
    // Of an answer of an earlier visit no tokens are known.
    const [label, about] =
      this.#places > 0
        ? ['Show tokens', 'Show the tokens of this answer']
        : ['Show as written', 'Show this answer as it was written'];
    this.#toggle.textContent = formatted ? label : 'Show formatted';
    this.#toggle.ariaLabel = formatted ? about : 'Show this answer formatted';
  }

  /** The events of another run follow, which continues the text. */
  resume(): void {
    this.root.ariaBusy = 'true';
    this.body.hidden = false;
    this.#formatted.remove();
    this.actions.replaceChildren();
    this.#rounds = new RoundReader();
    this.#done = false;
    for (const figure of Object.values(this.#figures)) figure.start();
  }

  add(event: TraceEvent): void {
    for (const figure of Object.values(this.#figures)) figure.add(event);
    if (event.type === 'queued') this.about.textContent = `Waiting for ${many(event.ahead, 'other run')} to finish`;
    const interruption = interruptionSentence(event);
    if (interruption) this.about.textContent = interruption;
    const round = this.#rounds.add(event);
    if (round) {
      this.body.append(...drawRound(round, this.#places, this.#last?.committed.at(-1)?.member));
      this.#places += round.committed.length;
      this.#last = round;
      this.text += round.committed.map(({ text }) => text).join('');
    }
    if (event.type === 'done') this.#done = true;
    if (round || event.type === 'done') this.#showFigures(event.type === 'done' ? ENDS[event.finish_reason] : '');
  }

  /** Also called after a failure, which ends a run without `done`. */
  finish(): void {
    this.root.ariaBusy = 'false';
    if (!this.#done) this.#showFigures('ended early');
    this.#format();
  }

  #showFigures(end: string): void {
    const { prompt, reused, tokens, speed, tau } = this.#figures;
    this.about.textContent = [
      many(tokens.value, 'token'),
      speed.value === null ? '' : `${brief(speed.value)} tokens/s`,
      tau.value === null ? '' : `${tau.value.toFixed(1)} tokens a round`,
      `${reused.value} of ${prompt.value} prompt tokens from the cache`,
      end,
    ]
      .filter(Boolean)
      .join(' · ');
  }
}
