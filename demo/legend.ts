// What the marks on the answer's tokens mean, under the system that is chosen: how a draft fared, who wrote a step, or which
// model of an ensemble proposed a token.
import type { ModelRole } from '../src/index.ts';
import type { Role } from '../src/trace.ts';
import { element } from './elements.ts';
import { isAlso, roleName } from './family.ts';
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
const membersOf = (roles: readonly ModelRole[]): readonly Role[] => {
  const named = roles.filter(isAlso).toSorted();
  return ['target', ...(named.length > 0 ? named : (['draft'] as const))];
};

const ensemble = (roles: readonly ModelRole[]): readonly Mark[] => [
  ...membersOf(roles).map((role, member) => ({ className: '', text: `proposed by the ${roleName(role)}`, member })),
  { className: 'corrected', text: 'drawn from all together' },
  REJECTED,
];

export type Kind = 'drafts' | 'steps' | 'ensemble';

export const showLegend = (kind: Kind, roles: readonly ModelRole[]): void => {
  const marks = kind === 'steps' ? STEPS : kind === 'ensemble' ? ensemble(roles) : DRAFTS;
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
