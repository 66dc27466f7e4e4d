// Properties that ask for others (`dependentRequired`, `dependentSchemas`, and `dependencies` of older drafts): a schema
// without them for each set of such properties that may be there together.

import { isObject } from '../base/is-object.ts';

type Node = { readonly [keyword: string]: unknown };

const KEYWORDS = ['dependencies', 'dependentRequired', 'dependentSchemas'] as const;
/** Each doubles the schemas. */
const MOST_TRIGGERS = 5;

/** Null: there are none. `unsupported`: the error that a keyword cannot be kept. */
export const dependentVariants = (node: Node, unsupported: (keyword: string) => Error): readonly Node[] | null => {
  const rules: { readonly trigger: string; readonly asks: Node }[] = [];
  for (const keyword of KEYWORDS) {
    if (node[keyword] === undefined) continue;
    if (!isObject(node[keyword])) throw unsupported(keyword);
    for (const [trigger, asks] of Object.entries(node[keyword])) {
      const names = Array.isArray(asks) && asks.every((name) => typeof name === 'string');
      if (!names && !isObject(asks)) throw unsupported(keyword);
      rules.push({ trigger, asks: names ? { required: asks } : (asks as Node) });
    }
    if (rules.length > MOST_TRIGGERS) throw unsupported(keyword);
  }
  if (rules.length === 0) return null;
  const { dependencies: _, dependentRequired: __, dependentSchemas: ___, ...rest } = node;
  const required = (rest.required ?? []) as readonly unknown[];
  const triggers = [...new Set(rules.map(({ trigger }) => trigger))];
  const sets = Array.from({ length: 2 ** triggers.length }, (_, bits) => triggers.filter((_, i) => (bits >> i) & 1));
  return sets
    .filter((set) => triggers.every((trigger) => set.includes(trigger) || !required.includes(trigger)))
    .map((set) => {
      const absent = triggers.filter((trigger) => !set.includes(trigger)).map((trigger) => [trigger, false]);
      const properties = { ...(isObject(rest.properties) ? rest.properties : {}), ...Object.fromEntries(absent) };
      const own = { ...rest, type: 'object', properties, required: [...new Set([...required, ...set])] };
      const asked = rules.filter(({ trigger }) => set.includes(trigger)).map(({ asks }) => asks);
      return asked.length === 0 ? own : { allOf: [own, ...asked] };
    })
    .filter((variant) => !asksForAbsent(variant));
};

/** One property asks for another that is not there; the set with both has it. */
const asksForAbsent = (variant: Node): boolean => {
  const parts = (Array.isArray(variant.allOf) ? variant.allOf : [variant]) as readonly Node[];
  const [{ properties }] = parts as [Node];
  const absent = Object.entries(properties as Node).flatMap(([name, each]) => (each === false ? [name] : []));
  return parts.some(({ required }) => Array.isArray(required) && required.some((name) => absent.includes(name)));
};
