// The thoughts of a model that thinks before it answers: `<think>…</think>`. The template decides which tags there are, and
// whether the prompt has opened them already.

export interface ThoughtTags {
  readonly open: string;
  readonly close: string;
}

/** As an answer is read. */
export interface ThoughtFormat extends ThoughtTags {
  /** The prompt ends with the opening tag. */
  readonly begun: boolean;
}

const TAGS: readonly ThoughtTags[] = [
  { open: '<think>', close: '</think>' },
  { open: '[THINK]', close: '[/THINK]' },
];

/** Null: models with this template do not think. */
export const thoughtTags = (template: string): ThoughtTags | null =>
  TAGS.find(({ close }) => template.includes(close)) ?? null;

/** Variables that switch thinking on and off, by the names that templates give them. */
export const thinkingVariables = (enabled: boolean): Readonly<Record<string, boolean>> => ({
  enable_thinking: enabled,
  thinking: enabled,
});

/** White space that the template writes between thoughts and answer. */
export const gapAfter = (template: string, { close }: ThoughtTags): string => {
  const breaks = template.split(close).map((rest) => /^(?:\\n|\n)+/.exec(rest)?.[0] ?? '');
  return (breaks.find((text) => text !== '') ?? '').replaceAll('\\n', '\n');
};

/** How much of the end of `text` may be the beginning of `mark`. */
const held = (text: string, mark: string): number => {
  for (let n = Math.min(mark.length - 1, text.length); n > 0; n--) if (mark.startsWith(text.slice(-n))) return n;
  return 0;
};

/** Divides an answer, piece by piece. White space around both parts belongs to the tags. */
export class ThoughtSplitter {
  readonly #format: ThoughtFormat;
  #state: 'before' | 'inside' | 'after';
  #text = '';
  #thought = false;
  #answered = false;

  constructor(format: ThoughtFormat) {
    this.#format = format;
    this.#state = format.begun ? 'inside' : 'before';
  }

  /** The last piece was a part of the thoughts. */
  get thinking(): boolean {
    return this.#state === 'inside';
  }

  push(text: string): { readonly thought: string; readonly answer: string } {
    this.#text += text;
    let thought = '';
    const { open, close } = this.#format;
    if (this.#state === 'before') {
      const rest = this.#text.trimStart();
      if (rest.startsWith(open)) {
        this.#state = 'inside';
        this.#text = rest.slice(open.length);
      } else if (open.startsWith(rest)) return { thought, answer: '' };
      else return { thought, answer: this.#release() };
    }
    if (this.#state === 'inside') {
      const end = this.#text.indexOf(close);
      const sure = this.#text.slice(0, end === -1 ? this.#text.length - held(this.#text, close) : end);
      if (!this.#thought) this.#text = this.#text.slice(sure.length - sure.trimStart().length);
      thought = (this.#thought ? sure : sure.trimStart()).trimEnd();
      this.#thought ||= thought !== '';
      if (end === -1) {
        this.#text = this.#text.slice(thought.length);
        return { thought, answer: '' };
      }
      this.#state = 'after';
      this.#text = this.#text.slice(this.#text.indexOf(close) + close.length);
    }
    if (!this.#answered) {
      this.#text = this.#text.trimStart();
      this.#answered = this.#text !== '';
    }
    return { thought, answer: this.#take() };
  }

  end(): { readonly thought: string; readonly answer: string } {
    const rest = this.#take();
    return this.#state === 'inside' ? { thought: rest.trimEnd(), answer: '' } : { thought: '', answer: rest };
  }

  /** There are no thoughts. */
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
