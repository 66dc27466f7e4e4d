// The legend for the marks on tokens: drafts, steps or ensemble models, depending on the kind of system. It describes
// the run that is shown, live or recorded; before the first run, the chosen system.
import type { SystemFacts } from '../../src/index.ts';
import type { Role } from '../../src/trace/index.ts';
import { isAlso, type ModelNames, roleName } from '../models/family.ts';
import { element, make } from '../shared/elements.ts';
import { hinted } from '../shared/hints.ts';
import { LETTERS } from './votes.ts';

interface Mark {
  readonly className: string;
  readonly text: string;
  readonly about: string;
  /** Ensembles: index of the model. */
  readonly member?: number;
}

const REJECTED: Mark = {
  className: 'rejected',
  text: 'draft, rejected',
  about: 'Drafted and rejected by the target: not part of the answer',
};

const DRAFTS: readonly Mark[] = [
  { className: 'drafted', text: 'draft, accepted', about: 'Drafted, and the target would write it too' },
  {
    className: 'corrected',
    text: 'corrected by the target',
    about: 'Written by the target in place of a rejected draft',
  },
  { className: 'bonus', text: 'bonus token', about: 'Written by the target after a draft that it accepted whole' },
  REJECTED,
];

const STEPS: readonly Mark[] = [
  {
    className: 'drafted',
    text: 'step of the draft, accepted',
    about: 'Written by the draft model, and good enough for the judge: the target writes nothing here',
  },
  {
    className: 'routed',
    text: 'step of the target',
    about: 'Escalated: the draft’s step was rejected and the target wrote one',
  },
  REJECTED,
];

/** The members in the engine's order: named models replace the draft. */
const membersOf = (models: ModelNames): readonly Role[] => {
  const named = Object.keys(models).filter(isAlso).toSorted();
  return ['target', ...(named.length > 0 ? named : (['draft'] as const))];
};

const ensemble = (models: ModelNames): readonly Mark[] => [
  ...membersOf(models).map((role, member) => ({
    className: '',
    text: `proposed by the ${roleName(role, models)}`,
    about: `The ${roleName(role, models)} proposed the token, and the vote of all models kept it`,
    member,
  })),
  {
    className: 'corrected',
    text: 'drawn from the combined distribution',
    about: 'No proposal was kept here: the token is the choice of all models together',
  },
  REJECTED,
];

type Marked = Pick<SystemFacts, 'joins' | 'guarantee'>;

const draw = ({ joins, guarantee }: Marked, models: ModelNames): void => {
  const marks = joins ? ensemble(models) : guarantee === 'approximate' ? STEPS : DRAFTS;
  const items = marks.map(({ className, text, about, member }) => {
    const mark = make(className === 'rejected' ? 's' : 'span', { className }, hinted(text, `${about}.`));
    if (member !== undefined) Object.assign(mark.dataset, { member: `${member}`, letter: LETTERS[member] });
    return make('li', {}, mark);
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
