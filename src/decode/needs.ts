// Which of the models that a system asks for are not there.
import type { DecodingSystem, ModelRole } from './system.ts';

export const lacking = (
  { needs, joins }: Pick<DecodingSystem, 'needs' | 'joins'>,
  has: (role: ModelRole) => boolean,
): readonly ModelRole[] => needs.filter((role) => !has(role) && !(joins && role === 'draft' && has('also-1')));
