// The reasoning of a model that thinks before it answers: `<think>…</think>`. The template decides which tags there are, and
// whether the prompt has opened them already.
import { partialMark } from './partial-mark.ts';

export interface ReasoningTags {
  readonly open: string;
  readonly close: string;
}

/** As an answer is read. */
export interface ReasoningFormat extends ReasoningTags {
  /** The prompt ends with the opening tag. */
  readonly begun: boolean;
}

const TAGS: readonly ReasoningTags[] = [
  { open: '<think>', close: '</think>' },
  { open: '[THINK]', close: '[/THINK]' },
];

/** Null: models with this template do not think. */
export const reasoningTags = (template: string): ReasoningTags | null =>
  TAGS.find(({ close }) => template.includes(close)) ?? null;

/** Variables that switch reasoning on and off, by the names that templates give them. */
export const reasoningVariables = (enabled: boolean): Readonly<Record<string, boolean>> => ({
  enable_thinking: enabled,
  thinking: enabled,
});

/** White space that the template writes between reasoning and answer. */
export const gapAfter = (template: string, { close }: ReasoningTags): string => {
  const breaks = template.split(close).map((rest) => /^(?:\\n|\n)+/.exec(rest)?.[0] ?? '');
  return (breaks.find((text) => text !== '') ?? '').replaceAll('\\n', '\n');
};

/** Divides an answer, piece by piece. White space around both parts belongs to the tags. */
export class ReasoningSplitter {
  readonly #format: ReasoningFormat;
  #state: 'before' | 'inside' | 'after';
  #text = '';
  /** Some of it was released. */
  #some = false;
  #answered = false;

  constructor(format: ReasoningFormat) {
    this.#format = format;
    this.#state = format.begun ? 'inside' : 'before';
  }

  /** The last piece was a part of the reasoning. */
  get inside(): boolean {
    return this.#state === 'inside';
  }

  push(text: string): { readonly reasoning: string; readonly answer: string } {
    this.#text += text;
    let reasoning = '';
    const { open, close } = this.#format;
    if (this.#state === 'before') {
      const rest = this.#text.trimStart();
      if (rest.startsWith(open)) {
        this.#state = 'inside';
        this.#text = rest.slice(open.length);
      } else if (open.startsWith(rest)) return { reasoning, answer: '' };
      else return { reasoning, answer: this.#release() };
    }
    if (this.#state === 'inside') {
      const end = this.#text.indexOf(close);
      const sure = this.#text.slice(0, end === -1 ? this.#text.length - partialMark(this.#text, [close]) : end);
      if (!this.#some) this.#text = this.#text.slice(sure.length - sure.trimStart().length);
      reasoning = (this.#some ? sure : sure.trimStart()).trimEnd();
      this.#some ||= reasoning !== '';
      if (end === -1) {
        this.#text = this.#text.slice(reasoning.length);
        return { reasoning, answer: '' };
      }
      this.#state = 'after';
      this.#text = this.#text.slice(this.#text.indexOf(close) + close.length);
    }
    if (!this.#answered) {
      this.#text = this.#text.trimStart();
      this.#answered = this.#text !== '';
    }
    return { reasoning, answer: this.#take() };
  }

  end(): { readonly reasoning: string; readonly answer: string } {
    const rest = this.#take();
    return this.#state === 'inside' ? { reasoning: rest.trimEnd(), answer: '' } : { reasoning: '', answer: rest };
  }

  /** There is no reasoning. */
  #release(): string {
    this.#state = 'after';
    this.#answered = true;
    return this.#take();
  }

  #take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}
