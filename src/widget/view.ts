// The content of the shadow root. It knows no engine: it shows what it is given, and reports which button was pressed.

import type { ErrorCode, Fault } from '../base/errors.ts';
import type { LoadProgress } from '../engine/sources.ts';
import type { TraceEvent } from '../trace/index.ts';
import { AnswerView, emptyFigures, MARKS } from './answer-view.ts';
import { make } from './dom.ts';
import style from './style.css?inline';

export interface Actions {
  send(text: string): void;
  stop(): void;
}

/** What the button does. */
export type Mode = 'chat' | 'replay';

export interface Settings {
  readonly mode: Mode;
  readonly label: string;
  readonly placeholder: string;
  readonly system: string;
  readonly disabled: boolean;
}

const PHASES = { download: 'Fetching', upload: 'Preparing', compile: 'Compiling shaders for' } as const;

/** A role in words for visitors. */
const wordOf = (role: string): string => {
  if (role === 'target') return 'model';
  if (role === 'draft') return 'draft model';
  return role === 'prm' || role === 'router' ? 'judge' : 'drafter';
};

const REASONS = { stop: 'complete', length: 'cut off at its limit', aborted: 'stopped' } as const;

/** For visitors of the page. The error's message and hint follow. */
const TITLES: Readonly<Record<ErrorCode, string>> = {
  'no-webgpu': 'The model cannot run in this browser.',
  'out-of-memory': 'The model needs more memory than this device has.',
  'device-lost': 'The connection to the graphics card was lost.',
  'download-failed': 'The download failed.',
  'bad-checkpoint': 'This model cannot be used.',
  'vocabulary-mismatch': 'These models do not belong together.',
  'bad-trace': 'This recording cannot be shown.',
  'bad-constraint': 'The answer cannot be constrained like this.',
  'bad-request': 'This request cannot be run.',
  aborted: 'Stopped.',
  bug: 'Something went wrong.',
};

const FORGOTTEN = 'The conversation has outgrown the model’s context: the model no longer sees the messages above.';

const LOST = 'The graphics card was lost. The model is loaded again, then the answer goes on.';

/** One for all elements of a page, made with the first. */
let sheet: CSSStyleSheet | null = null;
const styles = (): CSSStyleSheet => {
  sheet ??= new CSSStyleSheet();
  sheet.replaceSync(style);
  return sheet;
};

/** Few runs have them; where they occur their tooltip explains them. */
const RARE = ['routed', 'forced'];

const legend = (): HTMLElement =>
  make(
    'ul',
    { part: 'legend', className: 'legend', ariaLabel: 'How tokens are marked' },
    ...Object.entries(MARKS)
      .filter(([source]) => !RARE.includes(source))
      .map(([source, { part, text }]) =>
        make('li', {}, make('span', { part: `mark ${part}`, className: `${source} first` }, text)),
      ),
  );

export class View {
  readonly #panel = make('div', { part: 'panel', className: 'panel', role: 'group' });
  readonly #title = make('span', { part: 'title', className: 'title' });
  readonly #state = make('span', { part: 'state', className: 'state' });
  readonly #log = make('div', {
    part: 'log',
    className: 'log',
    role: 'log',
    ariaLive: 'off',
    ariaLabel: 'Conversation',
    tabIndex: 0,
  });
  readonly #hint = make('p', { part: 'hint' });
  readonly #empty = make('slot', { name: 'empty' }, this.#hint);
  readonly #bar = make('progress', { part: 'progress', max: 1, value: 0, ariaLabel: 'Loading the model' });
  readonly #phase = make('span', { part: 'phase' });
  readonly #loading = make('div', { className: 'loading' }, this.#bar, this.#phase);
  readonly #figures = make('dl', { part: 'figures', className: 'figures' }, ...emptyFigures());
  readonly #box = make('textarea', { part: 'input', rows: 2, dir: 'auto', ariaLabel: 'Message', spellcheck: false });
  readonly #button = make('button', { part: 'send', type: 'button' });
  readonly #status = make('p', { className: 'hidden', role: 'status' });
  readonly #actions: Actions;
  #settings: Settings = { mode: 'chat', label: '', placeholder: '', system: '', disabled: false };
  readonly #divider = make('p', { part: 'divider', className: 'divider' }, FORGOTTEN);
  /** Below the answer while the models are loaded again. The status tells it to screen readers. */
  readonly #lost = make('p', { part: 'note', className: 'note' }, LOST);
  #running = false;
  /** The frame that will follow the text, 0 for none. */
  #frame = 0;
  /** The answer is that of a recording. */
  #recorded = false;
  #question: HTMLElement | null = null;
  #answer: AnswerView | null = null;
  /** Questions that are part of the conversation: their answers were finished. */
  #kept: readonly HTMLElement[] = [];

  constructor(root: ShadowRoot, actions: Actions) {
    this.#actions = actions;
    root.adoptedStyleSheets = [styles()];
    const title = make('slot', { name: 'header' }, this.#title);
    this.#log.append(this.#empty);
    // No <form>: a sandboxed frame may not submit one, and there is nothing to submit it to.
    const form = make('div', { part: 'form', className: 'form' }, this.#box, this.#button);
    this.#panel.append(
      make('div', { part: 'header', className: 'header' }, title, this.#state),
      this.#log,
      make('div', { part: 'facts', className: 'facts' }, this.#figures, legend(), this.#loading),
      form,
      make('slot', { name: 'footer' }),
      this.#status,
    );
    root.append(this.#panel);
    this.#button.addEventListener('click', ({ detail }) => {
      if (!this.#running) this.#send();
      else if (detail < 2) actions.stop(); // a double click does not stop what it has just started
    });
    this.#box.addEventListener('keydown', (event) => this.#key(event));
    this.#panel.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && this.#running) actions.stop();
    });
    this.rest();
  }

  get text(): string {
    return this.#box.value;
  }

  set text(text: string) {
    this.#box.value = text;
  }

  focus(options?: FocusOptions): void {
    (this.#settings.mode === 'chat' ? this.#box : this.#button).focus(options);
  }

  update(settings: Settings): void {
    const { mode, label, placeholder, system, disabled } = settings;
    this.#settings = settings;
    this.#panel.ariaLabel = label;
    this.#title.textContent = label;
    this.#state.textContent = mode === 'replay' ? '' : system;
    if (!this.#answer) this.#show(mode === 'replay');
    this.#hint.textContent =
      mode === 'replay'
        ? 'A recorded run, replayed without a GPU.'
        : 'The model is fetched when you send the first message.';
    this.#box.placeholder = placeholder;
    this.#box.readOnly = mode === 'replay';
    this.#box.disabled = disabled;
    this.#button.disabled = disabled;
    this.#label();
  }

  /** A recording's speed is that of another machine: it is not shown. */
  #show(recorded: boolean): void {
    this.#recorded = recorded;
    this.#figures.classList.toggle('replay', recorded);
  }

  /** Something is being done, which the button stops. */
  busy(): void {
    this.#running = true;
    this.#label();
  }

  /**
   * A question, and room for its answer. The one before it goes if it was not answered: it may be asked again. `still`:
   * the answer is not shown before it is complete.
   */
  begin(prompt: string, { recorded = false, still = false } = {}): void {
    this.#show(recorded);
    if (this.#unanswered) this.withdraw();
    this.#log.querySelector('.note')?.remove();
    this.#empty.remove();
    this.#question = make('div', { part: 'message prompt', className: 'prompt' }, prompt);
    if (prompt) this.#log.append(this.#question);
    this.#answer = new AnswerView();
    this.#answer.root.className = 'answer';
    this.#answer.root.hidden = still;
    this.#log.append(this.#answer.root);
    this.#figures.replaceChildren(...this.#answer.figures);
    this.#status.textContent = 'Answering';
    this.#showEnd();
  }

  add(event: TraceEvent): void {
    if (['commit', 'done', 'device-lost'].includes(event.type)) this.#follow();
    if (event.type === 'device-lost') {
      this.#status.textContent = LOST;
      this.#answer?.root.after(this.#lost);
    }
    if (event.type === 'recovered') {
      this.#status.textContent = 'The answer goes on.';
      this.#lost.remove();
    }
    if (event.type === 'run')
      this.#state.textContent = `${event.system}${this.#recorded ? ', recorded elsewhere' : ''}`;
    this.#answer?.add(event);
    if (event.type === 'done') this.#end(REASONS[event.finish_reason]);
  }

  /** Not by a word, because its run was stopped or failed before the first. */
  get #unanswered(): boolean {
    const kept = this.#question !== null && this.#kept.includes(this.#question);
    return !kept && this.#answer?.root.textContent === '';
  }

  #end(reason: string): void {
    this.#status.textContent = `The answer is ${reason}. ${this.#answer?.root.textContent ?? ''}`;
    if (reason !== REASONS.stop) this.#answer?.root.append(make('small', { part: 'end' }, reason));
  }

  /** The question and its answer are part of the conversation. */
  keep(): void {
    if (this.#question) this.#kept = [...this.#kept, this.#question];
  }

  /** The question is about to be asked again, and its note has said why. */
  withdraw(): void {
    this.#question?.remove();
    this.#answer?.root.remove();
  }

  /** The model no longer sees the messages before this question. */
  forget(before: number): void {
    (this.#kept[before] ?? this.#question)?.before(this.#divider);
    this.#status.textContent = `Answering. ${FORGOTTEN}`;
    this.#showEnd();
  }

  progress({ role, phase, loaded, total }: LoadProgress): void {
    this.#loading.classList.add('busy');
    this.#bar.value = total > 0 ? loaded / total : 0;
    this.#phase.textContent = `${PHASES[phase]} the ${wordOf(role)}`;
  }

  loaded(): void {
    this.#loading.classList.remove('busy');
  }

  /** `offer`: adds a button. */
  fault({ code, message, hint }: Fault, offer: { readonly text: string; run(): void } | null): void {
    this.#log.querySelector('.note')?.remove();
    this.#empty.remove();
    const about = make('p', {}, `${sentence(message)} ${hint}`);
    const note = make(
      'div',
      { part: 'note', className: 'note', role: 'alert' },
      make('strong', {}, TITLES[code]),
      about,
    );
    if (offer) {
      const button = make('button', { part: 'offer', className: 'offer', type: 'button' }, offer.text);
      button.addEventListener('click', () => {
        note.remove();
        offer.run();
        this.focus();
      });
      note.append(button);
    }
    this.#status.textContent = '';
    this.#log.append(note);
    this.#showEnd();
  }

  /** After a task, however it ended. */
  rest(): void {
    this.#running = false;
    this.#lost.remove();
    if (this.#answer) Object.assign(this.#answer.root, { ariaBusy: 'false', hidden: false });
    if (this.#unanswered) {
      this.#answer?.root.remove();
      this.#status.textContent = '';
    }
    this.loaded();
    this.#label();
  }

  clear(): void {
    this.#answer = null;
    this.#kept = [];
    this.#log.replaceChildren(this.#empty);
    this.#figures.replaceChildren(...emptyFigures());
    this.#status.textContent = '';
  }

  #key(event: KeyboardEvent): void {
    // 229: Safari ends a composition before the Enter that confirms it (https://bugs.webkit.org/show_bug.cgi?id=165004).
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== 'Enter' || event.shiftKey || composing) return;
    event.preventDefault();
    if (!this.#running) this.#send();
  }

  #send(): void {
    this.#actions.send(this.text.trim());
  }

  #label(): void {
    const idle = this.#settings.mode === 'replay' ? 'Play' : 'Send';
    this.#button.textContent = this.#running ? 'Stop' : idle;
    this.#panel.setAttribute('part', this.#running ? 'panel running' : 'panel');
  }

  /** Before the log grows: its end stays in sight if it is now. A look at it is a layout, so there is one a frame. */
  #follow(): void {
    if (this.#frame !== 0) return;
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 24;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      if (isAtEnd && this.#log.scrollTop >= scrollTop) this.#showEnd(); // else the visitor has scrolled back
    });
  }

  #showEnd(): void {
    cancelAnimationFrame(this.#frame); // it may have been asked for where the end was not in sight
    this.#frame = 0;
    this.#log.scrollTop = this.#log.scrollHeight;
  }
}

/** Messages begin with a small letter, or with the name of a field or a file or an address, which stays as it is. */
const sentence = (message: string): string => {
  const named = /^\w*(?:[._A-Z]|:\/\/)/.test(message);
  const text = named ? message : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
