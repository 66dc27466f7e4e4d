// Divides an answer into text and calls, as it is written. Text that may be the beginning of a mark waits; the arguments of
// a call come in pieces. What is no call after all is text.
import { partialMark } from '../partial-mark.ts';
import type { PartialCall, ToolFamily } from './family.ts';
import type { ToolFunction } from './tools.ts';

/** What a piece of an answer added. */
export type CallEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly index: number; readonly name: string; readonly id: string | null }
  | { readonly type: 'arguments'; readonly index: number; readonly text: string };

/**
 * What may stand in front of a call. A bracket begins a list, or a mark such as [ARGS]; some models write a brace too many
 * after a call.
 */
const GAP = /^(?:[\s,;}\]]|\[(?![A-Z_]*(?:\]|$))|```json|```(?=\s))*/;

export class CallParser {
  readonly #family: ToolFamily;
  readonly #functions: readonly ToolFunction[];
  readonly #most: number;
  readonly #onlyCalls: boolean;
  #text = '';
  /** Inside a list of calls: what was taken since the last call, to be text after all. Null: outside. */
  #inside: string | null;
  #index = 0;
  /** Characters of the current call's arguments that were told; null: its name was not. */
  #told: number | null = null;
  /** The list has no call yet. */
  #isNew = true;

  /**
   * `most`: further calls are left out. `onlyCalls`: a grammar keeps the answer to calls, so what is none when it ends is
   * the beginning of one.
   */
  constructor(
    family: ToolFamily,
    functions: readonly ToolFunction[],
    { most = Number.POSITIVE_INFINITY, onlyCalls = false }: { readonly most?: number; readonly onlyCalls?: boolean },
  ) {
    this.#family = family;
    this.#functions = functions;
    this.#most = most;
    this.#onlyCalls = onlyCalls;
    this.#inside = family.atStart ? '' : null;
  }

  /** A call has been read. */
  get called(): boolean {
    return this.#index > 0 || this.#told !== null;
  }

  /** A call has begun and has not ended. */
  get calling(): boolean {
    return this.#told !== null;
  }

  /** In a list that has a call, or is to have one: what comes is no text, unless a later push says so. */
  get inCalls(): boolean {
    return this.#onlyCalls || (this.#inside !== null && (!this.#isNew || this.calling));
  }

  push(text: string): readonly CallEvent[] {
    this.#text += text;
    return this.#read(false);
  }

  end(): readonly CallEvent[] {
    return this.#read(true).filter(({ type }) => type !== 'text' || !this.#onlyCalls);
  }

  #read(ended: boolean): readonly CallEvent[] {
    const events: CallEvent[] = [];
    while (this.#inside === null ? this.#outside(events, ended) : this.#step(events, ended));
    return events.filter((event) => event.type !== 'text' || event.text !== '');
  }

  /** Text up to the next mark. True: a list begins. */
  #outside(events: CallEvent[], ended: boolean): boolean {
    const { open } = this.#family;
    const found = open
      .map((mark) => ({ mark, at: this.#text.indexOf(mark) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    if (found) {
      // White space in front of a call belongs to its form.
      const before = this.#text.slice(0, found.at);
      const text = before.trimEnd();
      events.push({ type: 'text', text });
      this.#inside = before.slice(text.length) + found.mark;
      this.#isNew = true;
      this.#text = this.#text.slice(found.at + found.mark.length);
      return true;
    }
    if (ended) {
      events.push({ type: 'text', text: this.called ? this.#text.trimEnd() : this.#text });
      this.#text = '';
    } else {
      const text = this.#text.slice(0, this.#text.length - partialMark(this.#text, open)).trimEnd();
      events.push({ type: 'text', text });
      this.#text = this.#text.slice(text.length);
    }
    return false;
  }

  /** One call, or what stands between calls. True: something was read. */
  #step(events: CallEvent[], ended: boolean): boolean {
    if (this.#told === null) {
      const [gap] = GAP.exec(this.#text) as RegExpExecArray;
      this.#take(gap.length);
      const { close, open } = this.#family;
      const mark = [...close, ...open].find((each) => this.#text.startsWith(each));
      if (mark !== undefined) {
        this.#take(mark.length);
        if (close.includes(mark)) this.#inside = null;
        return true;
      }
      if (
        !ended &&
        (/^(?:\[[A-Z_]*)?$/.test(this.#text) ||
          '```json'.startsWith(this.#text) ||
          partialMark(this.#text, [...close, ...open]) === this.#text.length)
      )
        return false;
      if (this.#text === '') return this.#giveUp(events);
    }
    const call = this.#family.read(this.#text, this.#functions, ended, this.#inside ?? '');
    if (!call || (ended && call.name === null)) return this.#giveUp(events);
    return this.#tell(call, events);
  }

  #tell({ name, id, arguments: own, used }: PartialCall, events: CallEvent[]): boolean {
    if (name === null) return false;
    const index = this.#index;
    const wanted = index < this.#most;
    if (this.#told === null) {
      if (wanted) events.push({ type: 'call', index, name, id: id ?? null });
      this.#told = 0;
    }
    if (wanted && own.length > this.#told) events.push({ type: 'arguments', index, text: own.slice(this.#told) });
    this.#told = own.length;
    if (used === null) return false;
    this.#text = this.#text.slice(used);
    this.#isNew = false;
    this.#told = null;
    this.#index++;
    return true;
  }

  /** There is no call here. What was taken of a list without one is text. True: the rest is read as text. */
  #giveUp(events: CallEvent[]): boolean {
    if (this.#isNew) events.push({ type: 'text', text: this.#inside ?? '' });
    this.#inside = null;
    this.#told = null;
    return true;
  }

  #take(length: number): void {
    this.#inside += this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
  }
}
