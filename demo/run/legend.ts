// What the marks on the answer's tokens mean: how a draft fared, who wrote a step, or which model of an ensemble proposed a
// token. It belongs to the run that is shown, live or recorded; before the first one, to the system that is chosen.
import type { DecodingSystem } from '../../src/index.ts';
import type { Role } from '../../src/trace/index.ts';
import { isAlso, type ModelNames, roleName } from '../models/family.ts';
import { element } from '../shared/elements.ts';
import { LETTERS } from './votes.ts';

interface Mark {
  readonly className: string;
  readonly text: string;
  /** Of an ensemble. */
  readonly member?: number;
}

const REJECTED: Mark = { className: 'rejected', text: 'draft, rejected' };

const DRAFTS: readonly Mark[] = [
  { className: 'drafted', text: 'draft, accepted' },
  { className: 'corrected', text: 'corrected by the target' },
  { className: 'bonus', text: 'bonus token' },
  REJECTED,
];

const STEPS: readonly Mark[] = [
  { className: 'drafted', text: 'draft’s step, accepted' },
  { className: 'routed', text: 'step of the target' },
  REJECTED,
];

/** As the engine counts them: named members take the place of the draft. */
const membersOf = (models: ModelNames): readonly Role[] => {
  const named = Object.keys(models).filter(isAlso).toSorted();
  return ['target', ...(named.length > 0 ? named : (['draft'] as const))];
};

const ensemble = (models: ModelNames): readonly Mark[] => [
  ...membersOf(models).map((role, member) => ({
    className: '',
    text: `proposed by the ${roleName(role, models)}`,
    member,
  })),
  { className: 'corrected', text: 'drawn from all together' },
  REJECTED,
];

type Marked = Pick<DecodingSystem, 'joins' | 'guarantee'>;

const draw = ({ joins, guarantee }: Marked, models: ModelNames): void => {
  const marks = joins ? ensemble(models) : guarantee === 'approximate' ? STEPS : DRAFTS;
  const items = marks.map(({ className, text, member }) => {
    const item = document.createElement('li');
    const mark = Object.assign(document.createElement(className === 'rejected' ? 's' : 'span'), {
      className,
      textContent: text,
    });
    if (member !== undefined) Object.assign(mark.dataset, { member: `${member}`, letter: LETTERS[member] });
    item.append(mark);
    return item;
  });
  element('legend', HTMLUListElement).replaceChildren(...items);
};

let ran = false;

export const showLegendOfRun = (system: Marked, models: ModelNames): void => {
  ran = true;
  draw(system, models);
};

export const showLegendOfChoice = (system: Marked, models: ModelNames): void => {
  if (!ran) draw(system, models);
};
