// The Chat tab: a conversation with the target under the chosen decoding system. The engine keeps the key-value cache,
// so each message reads only the new part of its prompt; every answer says how much was reused.
import { withinContext } from '../../src/api/context-window.ts';
import { OutriderError, type RunRequest } from '../../src/index.ts';
import { committedTokens, type TraceEvent } from '../../src/trace/index.ts';
import type { ModelPick } from '../models/catalogue-view.ts';
import { isFollowUp, isWordProblem } from '../models/scope.ts';
import { type OnAsk, outcomeOf } from '../run/outcome.ts';
import type { Session } from '../session.ts';
import { isComposing } from '../shared/composing.ts';
import { forgiveDoubleClick } from '../shared/double-click.ts';
import { element, make, say } from '../shared/elements.ts';
import { hideFault, showFault } from '../shared/faults.ts';
import { sampling } from '../shared/sampling.ts';
import { canStore, storedInTab, storeInTab } from '../shared/stored.ts';
import { Conversation } from './conversation.ts';
import { AnswerView, action, copyAction, QuestionView } from './message-view.ts';
import { mergedChat, onStoredChat, type StoredChat, storeChat, storedChat } from './stored-chat.ts';
import { isBundled, outOfScope, welcome } from './welcome.ts';

/** Where a message that is not sent yet outlives a reload. */
const UNSENT = 'outrider-unsent-message';

/** The log follows the answer if it is scrolled this close to its end. */
const NEAR = 32;

/** An answer that ended early: what the model had read and written, and which model it was. */
interface Unfinished {
  readonly view: AnswerView;
  readonly tokens: readonly number[];
  readonly model: string | undefined;
}

/** A chat that was cleared. Its nodes keep their tokens and figures, which are not stored. */
interface Cleared {
  readonly conversation: Conversation;
  readonly log: readonly Node[];
  readonly unfinished: Unfinished | null;
}

const FORGOTTEN = 'The conversation is longer than the model’s context: the model no longer sees the messages above.';

export class ChatTab {
  readonly #session: Session;
  readonly #onAsk: OnAsk;
  #conversation = new Conversation();
  readonly #log = element('chat-log', HTMLElement);
  readonly #box = element('chat-box', HTMLTextAreaElement);
  readonly #send = element('chat-send', HTMLButtonElement);
  readonly #latest = element('chat-latest', HTMLButtonElement);
  readonly #undo = element('chat-undo', HTMLButtonElement);
  readonly #system = element('chat-system', HTMLTextAreaElement);
  readonly #divider = make('p', { className: 'divider muted' }, FORGOTTEN);
  /** What was stored when this tab last read or wrote it. */
  #known: StoredChat | null = null;
  #ready = false;
  #running: AbortController | null = null;
  /** The answer that is being written. */
  #writing: AnswerView | null = null;
  /** Ends with the answer that is being written. */
  #answered: Promise<void> = Promise.resolve();
  /** The last answer, where it ended early. */
  #unfinished: Unfinished | null = null;
  /** What Undo brings back, until the next message. */
  #cleared: Cleared | null = null;
  /** Added to the seed, so that a regenerated answer differs. */
  #tries = 0;
  /** Shown while the log is empty. */
  #welcome: HTMLElement | null = null;
  #scopeNote: HTMLElement | null = null;

  constructor(session: Session, onAsk: OnAsk) {
    this.#session = session;
    this.#onAsk = onAsk;
    forgiveDoubleClick(this.#send, () => this.#running !== null);
    element('chat-form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.#running) this.#running.abort();
      else this.#ask();
    });
    this.#box.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      if (!this.#running) this.#ask();
    });
    element('chat', HTMLElement).addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#running?.abort();
    });
    element('chat-new', HTMLButtonElement).addEventListener('click', () => void this.#clear());
    this.#undo.addEventListener('click', () => this.#bringBack());
    const colours = element('chat-colours', HTMLInputElement);
    const mark = (): void => void this.#log.classList.toggle('unmarked', !colours.checked);
    colours.addEventListener('change', mark);
    mark();
    this.#log.addEventListener('scroll', () => {
      this.#latest.hidden = this.#following;
    });
    this.#latest.addEventListener('click', () => this.#follow());
    this.#box.addEventListener('input', () => this.#showButton());
    this.#system.addEventListener('change', () => this.#store());
    this.#sayKept(canStore());
    this.#restore();
    onStoredChat(() => this.#takeOver());
    this.#box.value ||= storedInTab(UNSENT) ?? '';
    window.addEventListener('pagehide', () => {
      storeInTab(UNSENT, this.#box.value);
      if (this.#writing?.text) this.#store(this.#writing.text);
    });
  }

  /**
   * What another tab has stored takes the place of this chat, which would overwrite it otherwise. It waits for the end of
   * an answer and of an edit; a system prompt that is not stored yet stays.
   */
  #takeOver(): void {
    if (this.#running || this.#log.querySelector('textarea') || this.#isKnown) return;
    const typed = this.#system.value;
    const before = this.#known?.system ?? '';
    this.#empty();
    this.#offerUndo(null);
    this.#system.value = '';
    this.#restore();
    if (typed !== before) this.#system.value = typed;
    this.#welcomeIfEmpty();
    this.#showButton();
  }

  /** The conversation of an earlier visit. */
  #restore(): void {
    const stored = storedChat();
    this.#known = stored;
    if (!stored) return;
    this.#system.value = stored.system;
    this.#conversation.restore(stored.messages);
    for (const [at, { role, content }] of stored.messages.entries()) {
      if (role === 'user') this.#append(content, at);
      else this.#restoreAnswer(content);
    }
    if (stored.messages.at(-1)?.role === 'user') this.#offerRetry();
    this.#follow();
  }

  #restoreAnswer(content: string): void {
    const view = AnswerView.restored(content);
    this.#log.append(view.root);
    this.#addActions(view);
  }

  /** What another tab has stored while this one answered stays, and is shown. `soFar`: of an answer being written. */
  #store(soFar = ''): void {
    const answer = soFar === '' ? [] : [{ role: 'assistant', content: soFar } as const];
    const mine = { system: this.#system.value, messages: [...this.#conversation.messages, ...answer] };
    const isKnown = this.#isKnown;
    this.#sayKept(storeChat(isKnown ? mine : mergedChat(storedChat(), mine, this.#known)));
    if (isKnown) this.#known = storedChat();
    else this.#takeOver();
  }

  #sayKept(kept: boolean): void {
    say('chat-kept', `The chat is kept ${kept ? 'in this browser until you clear it' : 'until this page is closed'}.`);
  }

  /** No other tab has stored anything since this one did. */
  get #isKnown(): boolean {
    return JSON.stringify(storedChat()) === JSON.stringify(this.#known);
  }

  /** An empty log shows the loaded model and what to ask it. */
  #welcomeIfEmpty(): void {
    this.#welcome?.remove();
    if (this.#articles.length > 0) return;
    const { systems, target, loadedTarget } = this.#session;
    const loaded = this.#ready && loadedTarget ? { ...loadedTarget, choice: target } : null;
    const absent = this.#session.withoutWebGpu
      ? 'Chat needs WebGPU, which this browser does not offer. Race and Inspect play recordings of the real engine.'
      : 'No model is loaded yet. Model shows what is being loaded.';
    this.#welcome = welcome(loaded ?? absent, systems.system.title, {
      ask: (text) => {
        this.#box.value = text;
        this.#ask();
      },
      load: (pick) => this.#load(pick),
    });
    this.#log.prepend(this.#welcome);
  }

  /** Loads another model. A question that waits for it stays in the box. */
  #load(pick: ModelPick): void {
    this.#scopeNote?.remove();
    this.#welcomeIfEmpty();
    this.#box.focus();
    this.#session.choose(pick);
  }

  /** Whether a model is loaded. */
  set ready(ready: boolean) {
    this.#ready = ready;
    if (!ready) this.#running?.abort();
    this.#showButton();
    this.#welcomeIfEmpty();
  }

  get #following(): boolean {
    return this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < NEAR;
  }

  #follow(): void {
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  #showButton(): void {
    this.#send.textContent = this.#running ? 'Stop' : 'Send';
    const empty = this.#box.value.trim() === '';
    const focused = this.#send.matches(':focus-visible');
    this.#send.disabled = !this.#running && (!this.#ready || empty);
    if (focused && this.#send.disabled) this.#box.focus(); // the next message is written there
    const busy = this.#running !== null || !this.#ready;
    for (const button of this.#log.querySelectorAll<HTMLButtonElement>('button.again')) button.disabled = busy;
  }

  async #clear(): Promise<void> {
    this.#running?.abort();
    await this.#answered; // Undo brings back what was written until now, too
    if (this.#articles.length > 0) {
      this.#offerUndo({
        conversation: this.#conversation,
        log: [...this.#log.childNodes],
        unfinished: this.#unfinished,
      });
      say('chat-status', 'The chat is cleared. Undo brings it back.');
    }
    this.#empty();
    this.#known = storedChat(); // of another tab's answers too none stays
    this.#store();
    this.#welcomeIfEmpty();
    this.#box.focus();
  }

  #offerUndo(cleared: Cleared | null): void {
    this.#cleared = cleared;
    this.#undo.hidden = cleared === null;
  }

  #bringBack(): void {
    if (this.#running || !this.#cleared) return;
    const { conversation, log, unfinished } = this.#cleared;
    this.#box.focus(); // the button disappears
    this.#offerUndo(null);
    this.#conversation = conversation;
    this.#unfinished = unfinished;
    this.#log.replaceChildren(...log);
    this.#store();
    this.#showButton();
    this.#follow();
    say('chat-status', 'The chat is back.');
  }

  #empty(): void {
    this.#conversation = new Conversation();
    this.#unfinished = null;
    this.#log.replaceChildren();
    this.#latest.hidden = true;
  }

  #ask(): void {
    const content = this.#box.value.trim();
    if (content === '' || !this.#ready || this.#running) return;
    this.#scopeNote?.remove();
    const solves = this.#conversation.messages.length === 0 ? isWordProblem : isFollowUp;
    if (isBundled(this.#session.target) && !solves(content)) {
      this.#scopeNote = outOfScope({
        load: (pick) => this.#load(pick),
        anyway: () => this.#begin(content),
      });
      this.#welcome?.remove(); // it says the same
      this.#log.append(this.#scopeNote);
      this.#follow();
      return;
    }
    this.#begin(content);
  }

  #begin(content: string): void {
    if (!this.#ready || this.#running) return;
    if (this.#box.value.trim() === content) this.#box.value = ''; // else the visitor has written something else meanwhile
    this.#welcome?.remove();
    this.#offerUndo(null);
    this.#conversation.ask(content);
    this.#answerTo(content, this.#conversation.messages.length - 1);
  }

  /** The question is stored at once: a reload ends the answer, and keeps the question. */
  #answerTo(content: string, at: number): void {
    this.#append(content, at);
    this.#store();
    this.#answered = this.#answer();
  }

  #append(content: string, at: number): void {
    const actions = {
      ask: (text: string) => this.#edit(at, text),
      opened: () => this.#showButton(),
      closed: () => this.#takeOver(),
    };
    this.#log.append(new QuestionView(content, actions).root);
  }

  #edit(at: number, content: string): void {
    if (this.#running || !this.#ready) return;
    this.#conversation.edit(at, content);
    this.#keep(at);
    this.#answerTo(content, at);
  }

  #retry(): void {
    if (this.#running || !this.#ready || !this.#conversation.retry()) return;
    this.#keep(this.#conversation.messages.length);
    this.#tries++;
    this.#answered = this.#answer();
  }

  /** The log has an article for each message, and a divider before the first message that the model still sees. */
  get #articles(): readonly Element[] {
    return [...this.#log.querySelectorAll('article')];
  }

  #keep(messages: number): void {
    for (const message of this.#articles.slice(messages)) message.remove();
    if (this.#conversation.forgotten === 0) this.#divider.remove();
  }

  #forget(exchanges: number): void {
    this.#conversation.forget(exchanges);
    this.#articles[this.#conversation.forgotten]?.before(this.#divider);
    this.#follow();
    say('chat-status', FORGOTTEN);
  }

  #run(signal: AbortSignal): AsyncIterable<TraceEvent> {
    const { maxTokens, ...request } = this.#request();
    return withinContext(
      this.#conversation.exchanges,
      maxTokens,
      (seen, limit) =>
        this.#session.run(
          { ...request, ...limit, prompt: this.#session.promptOf(this.#conversation.asked(seen)) },
          signal,
        ),
      (exchanges) => this.#forget(exchanges),
    );
  }

  #request(): Omit<RunRequest, 'prompt'> {
    const { seed, ...drawn } = sampling();
    this.#conversation.system = this.#system.value;
    return {
      ...drawn,
      seed: seed + this.#tries,
      ...this.#session.systems.request,
    };
  }

  /** Goes on from the very tokens of an unfinished answer. */
  #continue(): void {
    const unfinished = this.#unfinished;
    if (this.#running || !this.#ready || !unfinished) return;
    if (unfinished.model !== this.#session.names.target) {
      const why = 'another model wrote the beginning of this answer';
      showFault(new OutriderError('bad-request', why, 'Regenerate the answer.'));
      return;
    }
    this.#conversation.retry();
    const request = { ...this.#request(), prompt: { tokens: unfinished.tokens } };
    unfinished.view.resume();
    this.#answered = this.#answer(unfinished.view, (signal) => this.#session.run(request, signal));
  }

  async #answer(
    view = new AnswerView(),
    run: (signal: AbortSignal) => AsyncIterable<TraceEvent> = (signal) => this.#run(signal),
  ): Promise<void> {
    if (!view.root.isConnected) this.#log.append(view.root);
    this.#follow();
    hideFault();
    const abort = new AbortController();
    this.#running = abort;
    this.#writing = view;
    this.#showButton();
    say('chat-status', 'Answering');
    const seen: TraceEvent[] = [];
    const keep = this.#onAsk(this.#conversation.messages.at(-1)?.content ?? '');
    let tooLong = false;
    try {
      for await (const event of run(abort.signal)) {
        seen.push(event);
        const following = this.#following;
        view.add(event);
        if (following) this.#follow();
      }
      keep(outcomeOf(seen));
      const nothing = abort.signal.aborted ? 'Stopped' : 'The answer is empty';
      say('chat-status', view.text === '' ? nothing : `The answer: ${view.text}`);
    } catch (error) {
      const { code, overflow } = showFault(error);
      tooLong = overflow !== undefined && view.text === '';
      say('chat-status', 'The run failed');
      if (code === 'device-lost') this.#session.lost();
    } finally {
      view.finish();
      this.#running = null;
      this.#writing = null;
      this.#keepUnfinished(view, seen);
      if (tooLong) this.#takeBack(view);
      else this.#end(view);
      this.#showButton();
    }
  }

  /** A question that does not even fit alone goes back into the box: the next one would drop all before it, and it. */
  #takeBack(view: AnswerView): void {
    view.root.remove();
    this.#articles.at(-1)?.remove();
    const written = this.#box.value.trim(); // meanwhile
    this.#box.value = [this.#conversation.takeBack(), ...(written ? [written] : [])].join('\n\n');
    this.#store();
    this.#welcomeIfEmpty();
  }

  #keepUnfinished(view: AnswerView, seen: readonly TraceEvent[]): void {
    const begun = seen.find((event) => event.type === 'run');
    const done = seen.at(-1);
    if (done?.type === 'done' && done.finish_reason === 'stop') this.#unfinished = null;
    else if (begun && view.text !== '') {
      const tokens = [...begun.prompt, ...committedTokens(seen)];
      this.#unfinished = { view, tokens, model: begun.models?.target };
    } else if (this.#unfinished?.view !== view) this.#unfinished = null;
  }

  #end(view: AnswerView): void {
    this.#conversation.answer(view.text);
    if (view.text !== '') {
      this.#addActions(view);
      this.#store();
    } else {
      view.root.remove();
      this.#offerRetry();
    }
  }

  #addActions(view: AnswerView): void {
    const go = action('Continue', 'Continue the answer', () => this.#continue());
    go.classList.add('retry'); // on older answers both are hidden
    view.actions.append(
      ...view.toggle,
      copyAction(() => view.text),
      ...(this.#unfinished ? [go] : []),
      this.#retryAction(),
    );
  }

  /** The last question has no answer: it failed, or was stopped before its first word. */
  #offerRetry(): void {
    const row = this.#articles.at(-1)?.querySelector('.row.tight');
    row?.querySelector('.retry')?.remove(); // of an earlier failure
    row?.append(this.#retryAction());
  }

  #retryAction(): HTMLButtonElement {
    const retry = action('Regenerate', 'Regenerate the answer', () => this.#retry());
    retry.classList.add('retry', 'again');
    return retry;
  }
}
