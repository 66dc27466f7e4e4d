// Names of properties that a schema gives as patterns: `patternProperties`, and `propertyNames`.
import { isObject } from '../base/is-object.ts';
import { BoundedPattern, type Steps } from '../text/bounded-pattern.ts';
import { ASSERTIONS, asNode, type Node, refused, typesOf, unsupported } from './schema-keywords.ts';

interface PropertyPattern {
  readonly text: string;
  readonly matches: (name: string) => boolean;
  readonly schema: unknown;
}

export const patternsOf = (
  { patternProperties = {} }: Node,
  path: string,
  steps: Steps,
): readonly PropertyPattern[] => {
  if (!isObject(patternProperties)) throw refused(path, 'patternProperties must be an object');
  const orRefuse = <T>(text: string, what: string, work: () => T): T => {
    try {
      return work();
    } catch {
      throw refused(`${path}/patternProperties`, `${JSON.stringify(text)} ${what}`);
    }
  };
  return Object.entries(patternProperties).map(([text, schema]) => {
    const native = orRefuse(text, 'is no pattern', () => new RegExp(text, 'u'));
    const bounded = orRefuse(text, 'is too long or refers back to a group', () => new BoundedPattern(native, steps));
    const matches = (name: string): boolean =>
      orRefuse(text, 'takes too many steps for the names of the properties', () => bounded.test(name));
    return { text, matches, schema };
  });
};

/** What `propertyNames` says, in keywords that list properties: any names, these, or those of a pattern. */
export const withNames = ({ propertyNames: names, ...node }: Node, path: string): Node => {
  const said = Object.keys(asNode(names)).filter((name) => ASSERTIONS.has(name) && name !== 'type');
  const isText = names === true || (isObject(names) && (typesOf(names, path)?.includes('string') ?? true));
  const { properties = {}, patternProperties, additionalProperties, unevaluatedProperties = true } = node;
  const rest = additionalProperties ?? unevaluatedProperties;
  const { enum: values, pattern } = asNode(names);
  if (isText && said.length === 0) return node;
  if (isText && said.length === 1 && isObject(properties) && patternProperties === undefined) {
    const listed = Array.isArray(values) ? values.filter((name) => typeof name === 'string') : [];
    const each = (name: string) => [name, Object.hasOwn(properties, name) ? properties[name] : rest];
    if (said[0] === 'enum')
      return { ...node, properties: Object.fromEntries(listed.map(each)), additionalProperties: false };
    if (said[0] === 'pattern' && typeof pattern === 'string' && Object.keys(properties).length === 0)
      return { ...node, patternProperties: { [pattern]: rest }, additionalProperties: false };
  }
  throw unsupported(path, 'propertyNames');
};

/** What holds for a property by all patterns at once. */
export const withPatternsOf = (patterns: readonly PropertyPattern[]): unknown =>
  patterns.length === 1 ? patterns[0]?.schema : { allOf: patterns.map(({ schema }) => schema) };
