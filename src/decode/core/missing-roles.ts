// Which of the models that a system needs are not loaded, and which others it should have.
import type { ModelRole, SystemFacts } from './system.ts';

/** The roles that a system needs and for which no model is loaded. */
export const missingRoles = (
  { needs, joins, remote, instead }: Pick<SystemFacts, 'needs' | 'joins' | 'remote' | 'instead'>,
  has: (role: ModelRole) => boolean,
): readonly ModelRole[] => {
  const replaced = (role: ModelRole): boolean => {
    const other = instead?.[role];
    if (other && has(other)) return true;
    return (joins && role === 'draft' && has('also-1')) || (remote && role === 'target' && has('remote')) || false;
  };
  return needs.filter((role) => !has(role) && !replaced(role));
};

/** Which optional models a system is loaded with, of those that there are. */
export const optionalRoles = (
  { uses = [], usesOneOf = [] }: Pick<SystemFacts, 'uses' | 'usesOneOf'>,
  has: (role: ModelRole) => boolean,
): readonly ModelRole[] => [...uses.filter(has), ...usesOneOf.filter(has).slice(0, 1)];
