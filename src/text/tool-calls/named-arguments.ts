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

const KEPT = ['type', 'properties', 'required', 'additionalProperties'];

/** In the order of the schema; null: any. `readable`: keys that the family's parser reads. */
export const namedArguments = (
  own: ToolFunction,
  readable: RegExp,
  { says, refuse }: GrammarRules,
): readonly NamedArgument[] | null => {
  const parameters = argumentsOf(own);
  const { type = 'object', properties: listed, required: names = [], additionalProperties: others = true } = parameters;
  if (!says(parameters, KEPT)) return null;
  if (![type].flat().includes('object')) refuse('the parameters must be an object');
  const properties = isObject(listed) ? listed : {};
  const required: readonly unknown[] = [names].flat();
  const missing = required.find((name) => !Object.hasOwn(properties, String(name)));
  if (missing !== undefined) refuse(`"${missing}" is required, and not among the properties`);
  const keys = Object.keys(properties);
  if (keys.length === 0 && others !== false) {
    if (isObject(others)) says(others, [], '/additionalProperties');
    return null;
  }
  const unread = keys.find((key) => !readable.test(key));
  if (unread !== undefined) refuse(`this model cannot write a parameter that is called ${JSON.stringify(unread)}`);
  return keys
    .filter((key) => readable.test(key))
    .map((key) => ({ key, schema: properties[key], required: required.includes(key) }));
};
