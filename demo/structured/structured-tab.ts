// The Structured tab: a prompt and a form on the left, the answer on the right. The chosen decoding system writes it;
// tokens that follow from the form alone have their own colour.
import type { RunRequest } from '../../src/index.ts';
import { type EventOf, measure, type TraceEvent } from '../../src/trace/index.ts';
import { interruptionSentence } from '../run/interruption.ts';
import { drawRound } from '../run/lane.ts';
import { type OnAsk, outcomeOf } from '../run/outcome.ts';
import { RoundReader } from '../run/rounds.ts';
import type { Session } from '../session.ts';
import { forgiveDoubleClick } from '../shared/double-click.ts';
import { element, make } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';
import { sampling } from '../shared/sampling.ts';
import { bringIntoView } from '../shared/stillness.ts';
import { savingsText, validityText } from './answer-text.ts';
import { EXAMPLES, type Example } from './examples.ts';
import { KINDS, readForm, writeForm } from './form-text.ts';

const LEGEND = [
  ['forced', 'forced by the form'],
  ['drafted', 'draft, accepted'],
  ['corrected', 'corrected by the target'],
  ['bonus', 'bonus token'],
] as const;

const NO_FACTS =
  'After a run this says whether the answer has the form, and how many tokens follow from the form alone.';

export class StructuredTab {
  readonly #session: Session;
  readonly #onAsk: OnAsk;
  readonly #prompt = make('textarea', { id: 'structured-prompt', rows: 3, dir: 'auto' });
  readonly #kind = make('select', { id: 'structured-kind' });
  readonly #form = make('textarea', { id: 'structured-form', rows: 16, spellcheck: false, className: 'code' });
  readonly #go = make('button', { type: 'submit', className: 'primary', disabled: true }, 'Write');
  readonly #answerTitle = make('h2', {}, 'Answer');
  readonly #validity = make('p', { className: 'verdict' });
  readonly #text = make('section', { className: 'text unused', tabIndex: 0, ariaLabel: 'Structured answer' });
  readonly #facts = make('p', { className: 'muted structured-facts', textContent: NO_FACTS });
  #ready = false;
  #running: AbortController | null = null;

  constructor(session: Session, onAsk: OnAsk) {
    this.#session = session;
    this.#onAsk = onAsk;
    this.#validity.role = 'status';
    this.#text.dataset.empty = 'The answer appears here. It has this form, unless the token limit cuts it off.';
    this.#kind.append(...Object.entries(KINDS).map(([kind, label]) => new Option(label, kind)));
    element('structured', HTMLElement).replaceChildren(this.#left(), this.#right());
    element('structured', HTMLElement).addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#running?.abort();
    });
    this.#prompt.addEventListener('input', () => this.#showButton());
    this.#show(EXAMPLES[0] as Example);
  }

  /** Whether a model is loaded. */
  set ready(ready: boolean) {
    this.#ready = ready;
    if (this.#session.withoutWebGpu)
      this.#text.dataset.empty = 'Writing needs WebGPU, which this browser does not offer.';
    if (!ready) this.#running?.abort();
    this.#showButton();
  }

  #left(): HTMLElement {
    const examples = EXAMPLES.map((example) => {
      const button = make('button', { type: 'button' }, example.title);
      button.addEventListener('click', () => this.#show(example));
      return button;
    });
    const form = make(
      'form',
      { className: 'card' },
      make(
        'div',
        { className: 'row between' },
        make('h2', {}, 'Form'),
        make('div', { className: 'row tight', role: 'group', ariaLabel: 'Examples' }, ...examples),
      ),
      make('label', { htmlFor: 'structured-prompt' }, 'Prompt'),
      this.#prompt,
      make('div', { className: 'row between' }, this.#go),
      make(
        'div',
        { className: 'row between' },
        make('label', { htmlFor: 'structured-form' }, 'The answer must be'),
        this.#kind,
      ),
      this.#form,
    );
    this.#kind.ariaLabel = 'Kind of form';
    forgiveDoubleClick(this.#go, () => this.#running !== null);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#running) this.#running.abort();
      else void this.#write();
    });
    return form;
  }

  #right(): HTMLElement {
    const legend = LEGEND.map(([className, text]) => make('li', {}, make('span', { className }, text)));
    return make(
      'section',
      { className: 'card', ariaLabel: 'Answer in the form' },
      make('div', { className: 'row between' }, this.#answerTitle, this.#validity),
      this.#text,
      make('ul', { className: 'legend', ariaLabel: 'How tokens are marked' }, ...legend),
      this.#facts,
      make(
        'p',
        { className: 'muted' },
        'The bundled models know word problems only: here they show that any model keeps to a form, not that it ' +
          'fills one in well. Load a model of your own for that.',
      ),
    );
  }

  #show({ prompt, constraint }: Example): void {
    const { kind, text } = writeForm(constraint);
    this.#prompt.value = prompt;
    this.#kind.value = kind;
    this.#form.value = text;
    this.#showButton();
  }

  #showButton(): void {
    this.#go.textContent = this.#running ? 'Stop' : 'Write';
    this.#go.disabled = !this.#running && (!this.#ready || this.#prompt.value.trim() === '');
  }

  #say(text: string, valid?: boolean): void {
    if (this.#validity.textContent !== text) this.#validity.textContent = text; // a screen reader speaks what is set
    if (valid === undefined) delete this.#validity.dataset.right;
    else this.#validity.dataset.right = `${valid}`;
  }

  #request(): RunRequest {
    return {
      prompt: this.#session.promptOf([{ role: 'user', content: this.#prompt.value }]),
      ...sampling(),
      ...this.#session.systems.request,
      constraint: readForm(this.#kind.value, this.#form.value),
    };
  }

  /** On one column the answer is below the form; next to it, it is in view already. */
  #showAnswer(): void {
    const { top, bottom } = this.#text.getBoundingClientRect();
    if (top < 0 || bottom > document.documentElement.clientHeight) bringIntoView(this.#answerTitle);
  }

  async #write(): Promise<void> {
    if (!this.#ready || this.#prompt.value.trim() === '') return;
    hideFault();
    this.#showAnswer();
    this.#text.replaceChildren();
    this.#text.classList.remove('unused');
    this.#facts.textContent = NO_FACTS;
    this.#say('');
    const abort = new AbortController();
    this.#running = abort;
    this.#showButton();
    const seen: TraceEvent[] = [];
    const keep = this.#onAsk(this.#prompt.value);
    try {
      await this.#follow(this.#session.run(this.#request(), abort.signal), seen);
      keep(outcomeOf(seen));
    } catch (error) {
      this.#say('');
      if (showFault(error, this.#form.form ?? undefined).code === 'device-lost') this.#session.lost();
    } finally {
      this.#running = null;
      this.#showButton();
    }
  }

  async #follow(events: AsyncIterable<TraceEvent>, seen: TraceEvent[]): Promise<void> {
    const rounds = new RoundReader();
    let places = 0;
    for await (const event of events) {
      seen.push(event);
      const interruption = interruptionSentence(event);
      if (interruption) this.#say(interruption);
      const round = rounds.add(event);
      if (round) {
        this.#text.append(...drawRound(round, places, undefined));
        this.#text.scrollTop = this.#text.scrollHeight;
        places += round.committed.length;
      }
      if (event.type === 'run' || round) this.#say(validityText(null, places > 0));
      if (event.type === 'done') this.#end(event, seen);
    }
  }

  #end(done: EventOf<'done'>, seen: readonly TraceEvent[]): void {
    this.#say(validityText(done, true), done.constraint?.valid ?? false);
    if (done.constraint) this.#facts.textContent = savingsText(measure(seen), done.constraint);
  }
}
