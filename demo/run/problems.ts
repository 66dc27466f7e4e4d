// The problem box: held-out problems with their correct answers, three examples, one of which no drafter can guess, and
// a button that picks another at random.
import type { ModelPick } from '../models/catalogue-view.ts';
import { GENERAL_MODEL, isWordProblem, SCOPE } from '../models/scope.ts';
import { element, make, say } from '../shared/elements.ts';

export interface Problem {
  readonly question: string;
  /** The worked solution. */
  readonly answer: string;
  /** Its last number. */
  readonly result: string;
}

/** Short answers, for software adapters. They are found by position; a test checks that the file still matches. */
export const EXAMPLES = [
  { label: 'Trees', index: 0 },
  { label: 'Shop', index: 14 },
];

/** No problem of the kind that the drafters know: most guesses are wrong, and the run falls back. */
const UNLIKE = {
  label: 'Guessing fails',
  question: 'Every morning Hugo writes a long letter to the moon. Why?',
  about: 'The drafters know word problems only. Most of their guesses are rejected here, so few passes are saved.',
};

const fetchProblems = async (): Promise<readonly Problem[]> => {
  const response = await fetch('./problems.json');
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.json();
};

export const finalNumber = (text: string): string | null => /The answer is (-?\d+)/.exec(text)?.[1] ?? null;

export class Problems {
  readonly #text = element('problem', HTMLTextAreaElement);
  readonly #changed: () => void;
  readonly #general = make('button', { type: 'button', className: 'small', hidden: true });
  /** The text in the box may have changed. */
  onShow: () => void = () => {};
  /** The visitor wants a general model. */
  onLoadModel: (pick: ModelPick) => void = () => {};
  #all: readonly Problem[] = [];
  #shown = '';
  /** The question in the box is nothing that the bundled models can answer. */
  #beyond = false;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  async start(): Promise<void> {
    // The page goes on without them: the box takes any problem.
    this.#all = await fetchProblems().catch(({ message }: Error) => {
      say('truth', `The example problems could not be loaded: ${message}. Write your own, or reload the page.`);
      return [];
    });
    const known = EXAMPLES.flatMap(({ label, index }) => {
      const problem = this.#all[index];
      return problem ? [{ label, question: problem.question }] : [];
    });
    for (const { label, question } of [...known, UNLIKE]) {
      const button = make('button', { type: 'button', textContent: label });
      button.addEventListener('click', () => this.show({ question }));
      element('examples', HTMLElement).append(button);
    }
    element('fresh', HTMLButtonElement).addEventListener('click', () =>
      this.show(this.#all[Math.floor(Math.random() * this.#all.length)]),
    );
    this.#text.addEventListener('input', () => this.#showTruth());
    element('truth', HTMLElement).after(this.#general);
    if (this.#text.value === '') this.show(this.#all[0]);
  }

  show(problem: Pick<Problem, 'question'> | undefined): void {
    if (!problem) return;
    this.#text.value = problem.question;
    this.#showTruth();
  }

  /** A trace of the command line does not contain its problem: the visitor's own stays in the box. */
  showUnknown(): void {
    this.#changed();
    say('truth', 'The trace below does not contain its problem. The text above is for your next run.');
  }

  /** The first held-out problem that matches. */
  find(about: RegExp): Problem | undefined {
    return this.#all.find(({ question }) => about.test(question));
  }

  get question(): string {
    return this.#text.value.trim();
  }

  /** The problem in the box, unless the visitor wrote one of their own. */
  get current(): Problem | null {
    return this.known(this.question);
  }

  /** One of the held-out problems, by its text. */
  known(question: string): Problem | null {
    return this.#all.find((problem) => problem.question === question) ?? null;
  }

  /** A general model with its size and licence; the catalogue's code is fetched for it. */
  async #offerGeneral(wanted: boolean): Promise<void> {
    this.#beyond = wanted;
    if (wanted && this.#general.textContent === '') {
      const { offerOf } = await import('../models/catalogue-view.ts');
      const { text, pick } = offerOf(GENERAL_MODEL);
      this.#general.textContent = `Download ${text}`;
      this.#general.onclick = () => this.onLoadModel(pick);
    }
    this.#general.hidden = !this.#beyond;
  }

  #showTruth(): void {
    const { current, question } = this;
    if (this.#shown !== '' && this.#shown !== question) this.#changed();
    this.#shown = question;
    const bundled = document.querySelector('input[name=model]:checked') !== null;
    const unlike = bundled && question === UNLIKE.question;
    const beyond = bundled && question !== '' && !current && !unlike && !isWordProblem(question);
    void this.#offerGeneral(beyond);
    const own = unlike ? UNLIKE.about : beyond ? SCOPE : 'Your own problem: there is no answer to check against.';
    say('truth', current ? `Correct answer: ${current.result}` : question ? own : '');
    this.onShow();
  }
}
