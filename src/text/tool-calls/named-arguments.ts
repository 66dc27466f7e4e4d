// The arguments of a call that names each of them, as those of Qwen3-Coder and LFM2 do. A grammar keeps the schema of each;
// of what a schema says about all of them together it keeps which must be there.
import { isObject } from '../../base/is-object.ts';
import type { GrammarRules } from './family.ts';
import { argumentsOf } from './json-call.ts';
import type { ToolFunction } from './tools.ts';

export interface NamedArgument {
  readonly key: string;
  readonly schema: unknown;
  readonly required: boolean;
}

/** In the order of the schema. `readable`: keys that the family's parser reads; others are left out. */
export const namedArguments = (
  own: ToolFunction,
  readable: RegExp,
  { says }: GrammarRules,
): readonly NamedArgument[] => {
  const parameters = argumentsOf(own);
  const { properties, required = [] } = parameters;
  const listed = Object.entries(isObject(properties) ? properties : {}).filter(([key]) => readable.test(key));
  const names: readonly unknown[] = [required].flat();
  const all = names.every((name) => listed.some(([key]) => key === name));
  says(parameters, ['type', 'properties', 'additionalProperties', all ? 'required' : '']);
  return listed.map(([key, schema]) => ({ key, schema, required: names.includes(key) }));
};
