// What an empty chat shows: the card of the loaded model, the system that suits it, and three examples that it can do.
// The bundled models are offered nothing but word problems; for other questions a general model is offered.
import { kindOf } from '../models/bundled-models.ts';
import { type ModelPick, offerOf } from '../models/catalogue-view.ts';
import type { Choice } from '../models/family.ts';
import { GENERAL_MODEL, SCOPE } from '../models/scope.ts';
import { make, megabytes } from '../shared/elements.ts';
import { capitalised } from '../shared/words.ts';
import { action } from './message-view.ts';

interface Example {
  readonly label: string;
  readonly text: string;
}

/** Held-out problems that the target solves, as a test of the page asks them. */
const PROBLEMS: readonly Example[] = [
  {
    label: 'Trees',
    text: 'Leo plants 5 trees every day for 5 days. Then Leo plants 3 trees every day for 9 days. How many trees is that in all?',
  },
  {
    label: 'Shop',
    text: 'A ball costs 6 dollars. A cup costs 4 dollars. Ruth buys 6 balls and 4 cups. Ruth pays with 100 dollars. How many dollars does Ruth get back?',
  },
  {
    label: 'Stones',
    text: 'Ida has 54 stones. Ida finds 30 more stones. Ida shares all stones equally among 7 friends. How many stones does each friend get?',
  },
];

const CODE = `function total(prices) {
  let sum = 0;
  for (let i = 0; i <= prices.length; i++) sum += prices[i];
  return sum;
}`;

const GENERAL: readonly Example[] = [
  { label: 'Chat', text: 'Give me three ideas for a rainy Sunday with two children. One sentence each.' },
  {
    label: 'Edit code',
    text: `This function returns NaN. Write the corrected function, and change nothing else.\n\n\`\`\`js\n${CODE}\n\`\`\``,
  },
  {
    label: 'Summarise',
    text: 'Summarise in one sentence: A small model drafts several tokens. The large model checks all of them in one pass and keeps those that it would have written itself. The text is the same as without drafts, and the large model runs fewer times.',
  },
];

/** For a model without a chat template. */
const BEGINNINGS: readonly Example[] = [
  {
    label: 'Colours',
    text: 'The three primary colours are red, yellow and blue. When you mix red and yellow, you get',
  },
  { label: 'Story', text: 'The lighthouse keeper opened the old book. On its first page someone had written' },
  { label: 'Capitals', text: 'The capital of France is Paris. The capital of Italy is Rome. The capital of Japan is' },
];

const CONTINUES = 'This model has no chat template: it continues what you write.';

/** What the engine told of the loaded target. */
export interface Loaded {
  readonly choice: Choice;
  readonly family: string;
  readonly bytes: number;
  readonly context: number;
  readonly text: 'none' | 'raw' | 'chat';
}

interface Actions {
  ask(text: string): void;
  load(pick: ModelPick): void;
}

export const isBundled = ({ source }: Choice): boolean => typeof source === 'string';

/** A file's name or an address stays as it is. */
const titled = (label: string): string => (/[./]/.test(label) ? label : capitalised(label));

const GENERAL_ABOUT = 'Other questions need a general model. This one is small: it chats, and is often wrong.';

const generalModel = ({ load }: Pick<Actions, 'load'>): HTMLElement => {
  const { text, pick } = offerOf(GENERAL_MODEL);
  return action(`Download ${text}`, `Download ${text}`, () => load(pick));
};

/** The card of a model, and examples; or why there is none. */
export const welcome = (loaded: Loaded | string, system: string, actions: Actions): HTMLElement => {
  const root = make('section', { className: 'welcome', ariaLabel: 'The loaded model' });
  if (typeof loaded === 'string') {
    root.append(make('p', { className: 'muted' }, loaded));
    return root;
  }
  const { choice, family, bytes, context, text } = loaded;
  const bundled = isBundled(choice);
  const facts = [
    kindOf(choice, family),
    `${megabytes(bytes)} in GPU memory`,
    `${context.toLocaleString('en')} tokens of context`,
  ];
  const raw = text === 'raw';
  const examples = bundled ? PROBLEMS : raw ? BEGINNINGS : GENERAL;
  const decoding = `Answers are decoded with “${system}”. Choose another system under Decoding.`;
  root.append(
    make('h3', {}, titled(choice.label)),
    make('p', { className: 'muted' }, facts.join(' · ')),
    make('p', {}, bundled ? SCOPE : raw ? `${CONTINUES} ${decoding}` : decoding),
    make(
      'div',
      { className: 'row tight' },
      ...examples.map(({ label, text }) => action(label, `Ask the example: ${label}`, () => actions.ask(text))),
    ),
    ...(bundled ? [make('p', {}, GENERAL_ABOUT), make('div', { className: 'row tight' }, generalModel(actions))] : []),
  );
  return root;
};

/** Shown instead of an answer that the bundled models could only get wrong. */
export const outOfScope = (actions: Pick<Actions, 'load'> & { anyway(): void }): HTMLElement => {
  const root = make('div', { className: 'scope-note', role: 'status' });
  root.append(
    make('p', {}, SCOPE),
    make('p', {}, GENERAL_ABOUT),
    make(
      'div',
      { className: 'row tight' },
      generalModel(actions),
      action('Ask anyway', 'Ask anyway: the bundled model answers', () => {
        root.remove();
        actions.anyway();
      }),
    ),
  );
  return root;
};
