// The choice of a target: a bundled model, or one that the address names. The visitor's own models are in
// own-models.ts.
import { element, make, say } from '../shared/elements.ts';
import { capitalised } from '../shared/words.ts';
import type { Choice } from './family.ts';
import { type Choose, OwnModels } from './own-models.ts';

/** Three sizes of one vocabulary; a test compares the numbers of weights with the files. */
export const BUNDLED = [
  { name: 'target', title: 'Target', weights: 2_755_776, about: 'The model whose answers count.' },
  { name: 'mid', title: 'Mid', weights: 804_224, about: 'Correct most of the time.' },
  { name: 'draft', title: 'Draft', weights: 246_368, about: 'Small and fast: drafts for the others.' },
] as const;

/**
 * `?model=draft` opens the page with that model. `?model=https://…/model.gguf` only proposes it: a link must not make
 * anybody's browser download.
 */
const wantedModel = (): string | null => new URLSearchParams(location.search).get('model');

const isAddress = (name: string | null): name is string => /^https?:/.test(name ?? '');

export const startModels = (choose: Choose): OwnModels => {
  const first = BUNDLED.find(({ name }) => name === wantedModel()) ?? BUNDLED[0];
  const list = element('bundled', HTMLFieldSetElement);
  for (const { name, title, weights, about } of BUNDLED) {
    const checked = name === first.name;
    const radio = make('input', { type: 'radio', name: 'model', value: name, checked });
    const size = weightsOf(weights);
    const [heading, note] = [make('span', {}, title), make('small', {}, about)];
    list.append(
      make('label', { className: 'choice' }, radio, heading, make('span', { className: 'size' }, size), note),
    );
  }
  list.addEventListener('change', () => choose(chosenBundled(), 'target'));
  return new OwnModels(choose);
};

/** The model that the page opens with. */
export const firstChoice = (): Choice => {
  const wanted = wantedModel();
  const first = chosenBundled();
  if (isAddress(wanted)) {
    element('own', HTMLDetailsElement).open = true;
    element('address', HTMLInputElement).value = wanted;
    say('proposed', 'The link names this model. Press Load to download it.');
  } else if (wanted && wanted !== first.source) {
    const note = `The link names the model “${wanted}”, which is none of these.`;
    element('bundled', HTMLFieldSetElement).append(make('p', { className: 'muted' }, note));
  }
  return first;
};

export const bundledChoice = (name: string): Choice => ({ label: `the bundled ${name}`, source: name });

const chosenBundled = (): Choice =>
  bundledChoice(document.querySelector<HTMLInputElement>('input[name=model]:checked')?.value ?? BUNDLED[0].name);

const weightsOf = (weights: number): string => `${(weights / 1e6).toFixed(weights < 1e6 ? 2 : 1)} M weights`;

/** What kind of model it is. A bundled one has a published architecture, and weights of its own. */
export const kindOf = ({ source }: Choice, family: string): string => {
  const bundled = BUNDLED.find(({ name }) => name === source);
  return bundled ? `${weightsOf(bundled.weights)}, ${capitalised(family)}’s architecture, trained here` : family;
};

/** The bundled target, whose drafters and judges are bundled too. */
export const wholeFamily = (): Choice => bundledChoice(BUNDLED[0].name);

export const unmarkBundled = (): void => markBundled({ label: '', source: '' });

/** Checks the radio button of the target; none if it is the visitor's own. */
export const markBundled = ({ source }: Choice): void => {
  for (const radio of document.querySelectorAll<HTMLInputElement>('input[name=model]'))
    radio.checked = radio.value === source;
};
