// Which of the models that a system asks for are not there.
import type { DecodingSystem, ModelRole } from './system.ts';

/** The roles that a system needs and nobody fills. */
export const missingRoles = (
  { needs, joins, remote }: Pick<DecodingSystem, 'needs' | 'joins' | 'remote'>,
  has: (role: ModelRole) => boolean,
): readonly ModelRole[] => {
  const replaced = (role: ModelRole): boolean =>
    (joins && role === 'draft' && has('also-1')) || (remote && role === 'target' && has('remote')) || false;
  return needs.filter((role) => !has(role) && !replaced(role));
};
