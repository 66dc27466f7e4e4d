// A JSON Schema as a grammar. Every keyword is checked: it becomes a part of the grammar, or it is refused with its place.
// The grammar may allow less than the schema (objects take no properties beyond those that are listed, in their order;
// patterns match whole strings), never more. XGrammar's own converter is not used, because it ignores keywords that it
// does not know and misreads some that it does (docs/decisions/0030-constraints.md).
import { isObject } from '../base/is-object.ts';
import { Steps } from '../text/bounded-pattern.ts';
import type { JsonSchema } from './constraint.ts';
import { dependentVariants } from './dependencies.ts';
import { checkDisjoint, otherNames } from './disjoint-branches.ts';
import { fitted } from './fit-lengths.ts';
import { FORMATS, UNKEPT_FORMATS, VARIANTS } from './formats.ts';
import { LONGEST_GRAMMAR } from './grammar-size.ts';
import { characterClass, literal } from './literal.ts';
import { isLocal, isPointer, lookUp } from './local-reference.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { integerPattern, multiplePattern, numberPattern } from './number-range.ts';
import { grammarOf, IN_JSON, type PatternOptions, patternGrammar, readPattern } from './pattern.ts';
import { type Following, isWithin, lengthsOf } from './pattern-texts.ts';
import { patternsOf, withNames, withPatternsOf } from './property-names.ts';
import { checkBases } from './schema-bases.ts';
import {
  ASSERTIONS,
  asNode,
  BOUNDS,
  checkSpelling,
  impliedTypes,
  isOf,
  type Node,
  refused,
  TYPES,
  type Type,
  typesOf,
  UNKEPT,
  unsupported,
  writtenTypes,
} from './schema-keywords.ts';

/** Deeper schemas are no one's; a hostile one would exhaust the stack. */
const MOST_DEPTH = 64;
/** Circular references that are merged would branch without end, and dependencies inside others multiply. */
const MOST_MERGES = 256;

/** Steps of comparing patterns with formats and lengths. A pattern that zod writes takes 24 000 at most. */
const MOST_FOLLOWED = 5_000_000;

/** Larger counts make grammars of thousands of rules. */
const MOST_COUNT = 10_000;
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_COUNT;
const isSchema = (value: unknown): value is JsonSchema => typeof value === 'boolean' || isObject(value);

/** How values are laid out: in one line, or as the model likes. */
export type Whitespace = 'fixed' | 'any';

/** The rules of any JSON, which the rules of a schema use. */
export const rulesOfJson = (gap: Whitespace): readonly string[] => [
  `space ::= ${gap === 'any' ? '[ \\n\\t]{0,20}' : '""'}`,
  `comma ::= ${gap === 'any' ? 'space "," space' : '", "'}`,
  `colon ::= ${gap === 'any' ? 'space ":" space' : '": "'}`,
  'hex ::= [0-9A-Fa-f]',
  // A lone half of a surrogate pair is no character, and a pair would be one: neither is written as an escape.
  `plain ::= ${characterClass(IN_JSON)}`,
  'short ::= "\\\\" ["\\\\/bfnrt]',
  'long ::= "\\\\u" ([0-9A-Ca-cEFef] hex | [Dd] [0-7]) hex hex',
  'character ::= plain | short',
  // A class with a star is a loop; a rule with a star is a recursion, which is slow in a long text.
  `string ::= "\\"" ${characterClass(IN_JSON)}* ((short | long) ${characterClass(IN_JSON)}*)* "\\""`,
  'integer ::= "-"? ("0" | [1-9] [0-9]{0,14})',
  'number ::= integer ("." [0-9]{1,15})? ([eE] [+-]? [0-9]{1,2})?',
  'object ::= "{" space (string colon value (comma string colon value)*)? space "}"',
  'array ::= "[" space (value (comma value)*)? space "]"',
  'value ::= object | array | string | number | "true" | "false" | "null"',
];

/** A grammar of the values that are valid. Throws `bad-constraint` where the schema cannot be kept, or allows nothing. */
export const schemaGrammar = (schema: JsonSchema, whitespace: Whitespace = 'fixed'): string => {
  const { root, rules } = schemaRules(schema);
  return [`root ::= ${root}`, ...rulesOfJson(whitespace), ...rules].join('\n');
};

/**
 * The right-hand side of a value, and its rules beyond those of JSON. `prefix`: of their names. `whole`: the schema in
 * which references are looked up.
 */
export const schemaRules = (
  schema: JsonSchema,
  prefix = '',
  whole: unknown = schema,
): { readonly root: string; readonly rules: readonly string[] } => {
  checkBases(whole);
  const rules: string[] = [];
  const names = new Map<string, string>();
  let merges = 0;
  let written = 0;
  /** Of all patterns of names together: one may take exponentially many for a name. */
  const steps = new Steps();
  steps.refill(0);
  const followed = { left: MOST_FOLLOWED };
  const shared = new Map<string, string>();
  /** Equal rules are one: the compiler's time goes by their number. */
  const named = (right: string): string => {
    const known = shared.get(right);
    if (known !== undefined) return known;
    const name = `${prefix}s${rules.length}`;
    written += right.length;
    if (written > LONGEST_GRAMMAR)
      throw refused('', 'its grammar is too long', 'Make it shorter, or its counts smaller.');
    rules.push(`${name} ::= ${right}`);
    shared.set(right, name);
    return name;
  };

  /** A schema in the place of references to it. */
  const resolved = (node: unknown, depth = 0): unknown =>
    isLocal(node) && depth < MOST_DEPTH ? resolved(lookUp(whole, node.$ref), depth + 1) : node;

  /** What a part of `allOf` says: the schema that it refers to, and the keywords next to the reference. */
  const partsOf = (part: unknown, depth = 0): readonly unknown[] => {
    if (!isLocal(part) || depth === MOST_DEPTH) return [part];
    const { $ref, ...own } = part;
    return [own, ...partsOf(lookUp(whole, $ref), depth + 1)];
  };

  /** A local reference. Each is read once, so references may be circular. */
  const reference = (pointer: unknown, path: string): string => {
    if (!isPointer(pointer))
      throw refused(
        path,
        `$ref ${JSON.stringify(pointer)} is not a place in this schema`,
        'Write it as "#/$defs/name".',
      );
    const known = names.get(pointer);
    if (known !== undefined) return known;
    const name = `${prefix}ref${names.size}`;
    names.set(pointer, name);
    const found = lookUp(whole, pointer);
    if (!isSchema(found)) throw refused(path, `$ref "${pointer}" names nothing in this schema`);
    if (isObject(found) && found.$ref === pointer) throw refused(path, `$ref "${pointer}" names itself`);
    rules.push(`${name} ::= ${read(found, pointer, 0)}`);
    return name;
  };

  /** All that `allOf` and the keywords next to it say, as one schema. */
  const allOf = ({ allOf: parts, unevaluatedProperties, unevaluatedItems, ...own }: Node, path: string): Node => {
    if (!Array.isArray(parts) || parts.length === 0) throw refused(`${path}/allOf`, 'it must be a list of schemas');
    if (++merges > MOST_MERGES) throw refused(path, `more than ${MOST_MERGES} allOf are not supported`);
    const said = [own, ...parts.flatMap((part) => partsOf(part))].filter((part) => part !== true);
    if (said.includes(false)) throw refused(path, 'allOf allows no value');
    if (!said.every(isObject)) throw refused(`${path}/allOf`, 'it must be a list of schemas');
    const refuse = (what: string): Error => refused(path, what, 'Merge them into one schema.');
    const merged = mergeSchemas(said, (name) => ASSERTIONS.has(name), refuse);
    // Next to allOf these two see what its parts evaluate; within a part they would not.
    return {
      ...merged,
      ...(unevaluatedProperties === undefined ? {} : { unevaluatedProperties }),
      ...(unevaluatedItems === undefined ? {} : { unevaluatedItems }),
    };
  };

  /** The right-hand side of a rule: a name, a text, or alternatives in brackets. */
  const read = (node: unknown, path: string, depth: number): string => {
    if (depth > MOST_DEPTH) throw refused(path, `it is nested more than ${MOST_DEPTH} deep`);
    if (node === true) return 'value';
    if (node === false) throw refused(path, 'false allows no value');
    if (!isObject(node)) throw refused(path, 'it must be an object or true');
    const keywords = Object.keys(node).filter((name) => ASSERTIONS.has(name) && node[name] !== undefined);
    checkSpelling(node, path);
    /** A keyword that says more than this one and `type`. */
    const nextTo = (name: string): string | undefined => keywords.find((each) => each !== name && each !== 'type');
    if (node.required !== undefined && !Array.isArray(node.required))
      throw refused(path, 'required must be a list of names');
    if (node.nullable === true) throw refused(path, 'nullable is not supported', 'Write "type": [..., "null"].');
    if (node.not !== undefined) return read(withoutNot(node, resolved(node.not), path), path, depth + 1);
    if ('$ref' in node) {
      if (!isLocal(node) || !isSchema(lookUp(whole, node.$ref))) return reference(node.$ref, path);
      const [types, written] = [typesOf(node, path), writtenTypes(asNode(resolved(node)), path)];
      const isNarrower = types !== null && !written?.every((type) => types.includes(type));
      if (nextTo('$ref') === undefined && !isNarrower) return reference(node.$ref, path);
      return read(allOf({ allOf: [node] }, path), path, depth + 1);
    }
    if ('const' in node || 'enum' in node) {
      const name = 'const' in node ? 'const' : 'enum';
      const other = nextTo(name);
      if (other !== undefined)
        throw refused(
          path,
          `${other} next to ${name} is not supported`,
          `Leave out the values that ${other} excludes.`,
        );
      const types = typesOf(node, path);
      const values = 'const' in node ? [node.const] : Array.isArray(node.enum) ? node.enum : [];
      const possible = values.filter((value) => !types || types.some((type) => isOf(value, type)));
      if (possible.length === 0) throw refused(path, `${name} allows no value`);
      return alternatives(possible.map((value) => constant(value, path, depth)));
    }
    if ('allOf' in node) return read(allOf(node, path), path, depth + 1);
    for (const name of ['anyOf', 'oneOf'] as const) {
      if (!(name in node)) continue;
      const branches = node[name];
      if (!Array.isArray(branches) || branches.length === 0)
        throw refused(`${path}/${name}`, 'it must be a list of schemas');
      const others = name === 'oneOf' ? otherNames(branches) : null;
      const types = others
        ? (typesOf(node, path) ?? ['object']).filter((type) => type === 'object')
        : typesOf(node, path);
      const { [name]: _, type: __, ...rest } = node;
      const parts = branches.map((branch, i): unknown => {
        const narrow = types ? narrowed(branch, types, path) : branch;
        if (narrow === false) return false;
        const part = nextTo(name) === undefined ? narrow : allOf({ ...rest, allOf: [narrow] }, `${path}/${name}/${i}`);
        return others ? without(asNode(part), others[i] as readonly string[]) : part;
      });
      if (name === 'oneOf')
        checkDisjoint(
          parts.filter((part) => part !== false).map((part) => resolved(part)),
          path,
        );
      const written = parts.flatMap((each, i) =>
        each === false ? [] : [read(each, `${path}/${name}/${i}`, depth + 1)],
      );
      if (written.length === 0) throw refused(path, `${name} allows no value`);
      return alternatives(written);
    }
    const types = typesOf(node, path) ?? impliedTypes(keywords);
    const unkept = keywords.find(
      (name) => UNKEPT.any.includes(name) || (types ?? TYPES).some((type) => UNKEPT[type].includes(name)),
    );
    if (unkept !== undefined) throw unsupported(path, unkept);
    return types ? alternatives(types.map((type) => ofType(type, node, path, depth))) : 'value';
  };

  /** A value, as it is written with these gaps. */
  const constant = (value: unknown, path: string, depth: number): string => {
    if (depth > MOST_DEPTH) throw refused(path, `it is nested more than ${MOST_DEPTH} deep`);
    const list = (open: string, parts: readonly string[], close: string): string =>
      named([literal(open), 'space', parts.join(' comma '), 'space', literal(close)].join(' '));
    if (Array.isArray(value))
      return list(
        '[',
        value.map((each) => constant(each, path, depth + 1)),
        ']',
      );
    if (!isObject(value)) return literal(JSON.stringify(value) ?? 'null');
    const members = Object.entries(value).map(
      ([name, each]) => `${literal(JSON.stringify(name))} colon ${constant(each, path, depth + 1)}`,
    );
    return list('{', members, '}');
  };

  const ofType = (type: Type, node: Node, path: string, depth: number): string => {
    if (type === 'object') return objectOf(node, path, depth);
    if (type === 'array') return arrayOf(node, path, depth);
    if (type === 'string') return stringOf(node, path);
    if (type === 'number' || type === 'integer') return numberOf(type, node, path);
    return type === 'null' ? '"null"' : '("true" | "false")';
  };

  const objectOf = (node: Node, path: string, depth: number): string => {
    if (node.propertyNames !== undefined) return objectOf(withNames(node, path), path, depth);
    const variants = dependentVariants(node, (keyword) => unsupported(path, keyword));
    if (variants?.length === 0) throw refused(path, 'its dependencies allow no object');
    merges += variants?.length ?? 0;
    if (merges > MOST_MERGES) throw refused(path, `more than ${MOST_MERGES} sets of dependencies are not supported`);
    if (variants) return alternatives(variants.map((each) => read(each, path, depth + 1)));
    const { unevaluatedProperties = true } = node;
    if (typeof unevaluatedProperties !== 'boolean') throw unsupported(path, 'unevaluatedProperties');
    const { properties = {}, additionalProperties = unevaluatedProperties } = node;
    const required = (node.required ?? []) as readonly unknown[];
    if (!isObject(properties)) throw refused(path, 'properties must be an object');
    if (!required.every((name) => typeof name === 'string')) throw refused(path, 'required must be a list of names');
    if (!isSchema(additionalProperties)) throw refused(path, 'additionalProperties must be a schema');
    const patterns = patternsOf(node, path, steps);
    /** A property's schema, with what the patterns that its name matches say. */
    const withPatterns = (name: string, own: readonly unknown[]): unknown => {
      const said = [...own, ...patterns.filter(({ matches }) => matches(name)).map((each) => each.schema)];
      return said.length > 1 ? { allOf: said } : said.length === 1 ? said[0] : additionalProperties;
    };
    const members: { readonly text: string; readonly required: boolean }[] = [];
    const add = (name: string, each: unknown, place: string): void => {
      const text = `${literal(JSON.stringify(name))} colon ${read(each, place, depth + 1)}`;
      members.push({ text: named(text), required: required.includes(name) });
    };
    for (const [name, each] of Object.entries(properties))
      if (!isNever(each) || required.includes(name))
        add(name, withPatterns(name, [each]), `${path}/properties/${name}`);
    for (const name of new Set<string>(required)) {
      if (Object.hasOwn(properties, name)) continue;
      const each = withPatterns(name, []);
      if (each === false) throw refused(path, `"${name}" is required, and not among the properties`);
      add(name, each, `${path}/additionalProperties`);
    }
    const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = node;
    if (Number(minProperties) > Number(maxProperties))
      throw refused(path, `minProperties ${minProperties} exceeds maxProperties ${maxProperties}`);
    // Next to listed properties no others are written: a second value of a listed name could be of a wrong type.
    const open =
      Object.keys(properties).length + members.length === 0 && (additionalProperties !== false || patterns.length > 0);
    // Two properties of one name count as one.
    if (open && !(Number(minProperties) <= 1)) throw unsupported(path, 'minProperties');
    if (members.length > 0) {
      const some = membersFrom(members, Number(minProperties), Number(maxProperties));
      if (some === null) throw refused(path, 'its properties are fewer than minProperties, or more than maxProperties');
      return named(`"{" space ${some} space "}"`);
    }
    if (!open && Number(minProperties) > 0) throw refused(path, `minProperties ${minProperties}, and no properties`);
    if (!open || maxProperties === 0) return named('"{" space "}"');
    if (patterns.length === 0 && additionalProperties === true && minProperties === 0 && maxProperties === Infinity)
      return 'object';
    const [name, value] =
      patterns.length === 0
        ? ['string', read(additionalProperties, `${path}/additionalProperties`, depth + 1)]
        : [
            alternatives(patterns.map(({ text }) => quoted(text, path))),
            // A name may match several patterns.
            read(withPatternsOf(patterns), `${path}/patternProperties`, depth + 1),
          ];
    if (maxProperties !== Infinity && !isCount(maxProperties)) throw unsupported(path, 'maxProperties');
    const others = maxProperties === Infinity ? '*' : `{0,${Number(maxProperties) - 1}}`;
    const some = `${name} colon ${value} (comma ${name} colon ${value})${others}`;
    return named(`"{" space ${minProperties === 0 ? `(${some})?` : some} space "}"`);
  };

  /**
   * Members in their order, so many of them; those that are not required may be left out, each with its comma. Null:
   * there are never so many.
   */
  const membersFrom = (
    members: readonly { readonly text: string; readonly required: boolean }[],
    least: number,
    most: number,
  ): string | null => {
    // By how many were written before: what may follow. From `last` on their number makes no difference.
    const last = most < members.length ? most : Math.max(1, Math.min(least, members.length));
    let after = Array.from({ length: last + 1 }, (_, written): string | null => (written >= least ? '""' : null));
    for (const { text, required } of members.toReversed())
      after = after.map((without, written) => {
        const next = written < most ? after[Math.min(written + 1, last)] : null;
        const ways = [next && `${written > 0 ? 'comma ' : ''}${text} ${next}`, required ? null : without];
        const possible = ways.filter((way) => typeof way === 'string');
        return possible.length === 0 ? null : named(possible.join(' | '));
      });
    return after[0] ?? null;
  };

  const arrayOf = (node: Node, path: string, depth: number): string => {
    const { minItems = 0, maxItems, uniqueItems = false, unevaluatedItems = true } = node;
    if (typeof unevaluatedItems !== 'boolean') throw unsupported(path, 'unevaluatedItems');
    // Until 2019 a tuple was a list of items.
    const [prefixItems = [], items = unevaluatedItems] = Array.isArray(node.items)
      ? [node.items, node.additionalItems]
      : [node.prefixItems, node.items];
    if (!isCount(minItems) || !(maxItems === undefined || isCount(maxItems)))
      throw refused(path, `minItems and maxItems must be whole numbers, at most ${MOST_COUNT}`);
    if (maxItems !== undefined && maxItems < minItems)
      throw refused(path, `minItems ${minItems} exceeds maxItems ${maxItems}`);
    if (!Array.isArray(prefixItems)) throw refused(path, 'prefixItems must be a list of schemas');
    const most = Math.min(maxItems ?? Infinity, items === false ? prefixItems.length : Infinity);
    if (most < minItems) throw refused(path, `minItems ${minItems} exceeds the ${most} items that are possible`);
    if (uniqueItems !== false && most > 1) throw unsupported(path, 'uniqueItems');
    const first = prefixItems.slice(0, most).map((each, i) => read(each, `${path}/prefixItems/${i}`, depth + 1));
    const rest = most > first.length ? read(items, `${path}/items`, depth + 1) : null;
    const more = ({ from, comma }: { from: number; comma: string }): string => {
      if (!rest) return '""';
      const [least, last] = [Math.max(0, minItems - from), most - from];
      const count = last === Infinity ? `{${least},}` : `{${least},${last}}`;
      if (comma !== '') return `(comma ${rest})${count}`;
      const others = last === Infinity ? `{${Math.max(0, least - 1)},}` : `{${Math.max(0, least - 1)},${last - 1}}`;
      return least > 0 ? `${rest} (comma ${rest})${others}` : `(${rest} (comma ${rest})${others})?`;
    };
    if (first.length === 0) return named(`"[" space ${most === 0 ? '""' : more({ from: 0, comma: '' })} space "]"`);
    // Items of a tuple may end anywhere from minItems on.
    let after = more({ from: first.length, comma: 'comma' });
    for (const [i, each] of [...first.entries()].toReversed()) {
      const whole = `${i > 0 ? 'comma ' : ''}${each} ${after}`;
      after = named(i >= minItems ? `${whole} | ""` : whole);
    }
    return named(`"[" space ${after} space "]"`);
  };

  const inString = (path: string): PatternOptions => ({
    json: true,
    refuse: (what, hint) => refused(path, what, hint),
    named,
  });

  /** A string that matches a pattern. */
  const quoted = (pattern: string, path: string): string =>
    named(`"\\"" (${patternGrammar(pattern, inString(path))}) "\\""`);

  const following = (path: string): Following => ({
    refuse: (what, hint) => refused(path, what, hint),
    steps: followed,
  });

  /** The pattern that is written for a format, a pattern or both; null: any text. */
  const textsOf = ({ pattern, format }: Node, path: string): string | null => {
    if (pattern !== undefined && typeof pattern !== 'string') throw refused(path, 'pattern must be a text');
    if (format === undefined) return pattern ?? null;
    const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? format : null;
    if (known === null) {
      if (pattern !== undefined && !UNKEPT_FORMATS.test(String(format))) return pattern;
      throw refused(
        path,
        `format ${JSON.stringify(format)} is not supported`,
        `Supported are ${Object.keys(FORMATS).join(', ')}.`,
      );
    }
    const all = [FORMATS[known] as string, ...(VARIANTS[known] ?? [])];
    const kept = all.find((texts) => pattern === undefined || isWithin(texts, pattern, following(path)));
    if (kept === undefined) throw refused(path, `texts of the format ${known} need not match its pattern`);
    return kept;
  };

  const stringOf = (node: Node, path: string): string => {
    const texts = textsOf(node, path);
    const { minLength, maxLength } = node;
    // A longer limit is narrowed to one that can be counted.
    const [least, most] = [minLength ?? 0, typeof maxLength === 'number' ? Math.min(maxLength, MOST_COUNT) : maxLength];
    if (!isCount(least) || !(most === undefined || isCount(most)))
      throw refused(path, `minLength and maxLength must be whole numbers, at most ${MOST_COUNT}`);
    if (most !== undefined && most < least) throw refused(path, `minLength ${least} exceeds maxLength ${most}`);
    if (texts !== null) {
      const isBounded = least > 0 || maxLength !== undefined;
      const [shortest, longest] = isBounded ? lengthsOf(texts, following(path)) : [least, least];
      if (shortest >= least && longest <= Number(maxLength ?? longest)) return quoted(texts, path);
      const { alternatives, not } = readPattern(texts, (what, hint) => refused(path, what, hint));
      const kept = not.length === 0 ? fitted(alternatives, { least, most: most ?? Number.POSITIVE_INFINITY }) : null;
      if (!kept) throw refused(path, 'texts of its pattern or format may be shorter or longer than its lengths');
      return named(`"\\"" (${grammarOf(kept, inString(path))}) "\\""`);
    }
    if (least === 0 && most === undefined) return 'string';
    return named(`"\\"" character{${least},${most ?? ''}} "\\""`);
  };

  const numberOf = (type: 'number' | 'integer', node: Node, path: string): string => {
    const bounds: Partial<Record<string, number>> = {};
    for (const name of BOUNDS) {
      if (node[name] === undefined) continue;
      // In draft 4 a flag makes the bound exclusive.
      if (name.startsWith('exclusive') && typeof node[name] === 'boolean') {
        const bound = node[name === 'exclusiveMinimum' ? 'minimum' : 'maximum'];
        if (node[name] && Number.isFinite(bound)) bounds[name] = bound as number;
        continue;
      }
      if (!Number.isFinite(node[name])) throw refused(path, `${name} must be a number`);
      bounds[name] = node[name] as number;
    }
    // No draft has formats of numbers, but OpenAPI does, and validators check this one.
    if (type === 'integer' && node.format === 'int32') {
      bounds.minimum = Math.max(bounds.minimum ?? -Infinity, -(2 ** 31));
      bounds.maximum = Math.min(bounds.maximum ?? Infinity, 2 ** 31 - 1);
    }
    const step = node.multipleOf ?? node.divisibleBy;
    if (step !== undefined && !(Number.isFinite(step) && (step as number) > 0))
      throw refused(path, 'multipleOf must be a number above 0');
    if (step === undefined && Object.keys(bounds).length === 0) return type;
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = bounds;
    const above = (x: number): number => Math.floor(x) + 1;
    const below = (x: number): number => Math.ceil(x) - 1;
    const least = Math.max(minimum ?? -Infinity, exclusiveMinimum === undefined ? -Infinity : above(exclusiveMinimum));
    const most = Math.min(maximum ?? Infinity, exclusiveMaximum === undefined ? Infinity : below(exclusiveMaximum));
    const pattern =
      step !== undefined
        ? multiplePattern(step as number, least, most)
        : type === 'number'
          ? numberPattern(bounds)
          : integerPattern(least, most);
    if (pattern === undefined) throw unsupported(path, `multipleOf ${step}`);
    if (pattern === null) throw refused(path, 'no number lies between its bounds');
    return named(patternGrammar(pattern, inString(path)));
  };

  return { root: read(schema, '', 0), rules };
};

const alternatives = (parts: readonly string[]): string =>
  parts.length === 1 ? (parts[0] as string) : `(${parts.join(' | ')})`;

/** A schema that no value has. */
const isNever = (node: unknown): boolean =>
  node === false ||
  (isObject(node) &&
    (node.not === true || (isObject(node.not) && !Object.keys(node.not).some((name) => ASSERTIONS.has(name)))));

/** `not` as the types that it leaves over: no value of another type than it names has it. */
const withoutNot = ({ not: _, ...node }: Node, not: unknown, path: string): Node => {
  const excluded = isObject(not) ? typesOf(not, path) : null;
  if (!excluded) throw unsupported(path, 'not');
  const own = typesOf(node, path) ?? impliedTypes(Object.keys(node)) ?? TYPES.filter((type) => type !== 'integer');
  // A number may be whole, and an integer is a number.
  const numeric = excluded.some((type) => type === 'number' || type === 'integer');
  const type = own.filter(
    (each) => !(excluded.includes(each) || (numeric && (each === 'number' || each === 'integer'))),
  );
  if (type.length === 0) throw unsupported(path, 'not');
  return { ...node, type };
};

/** An object without these properties; false where it requires one of them. */
const without = ({ properties, ...node }: Node, names: readonly string[]): Node | false => {
  if (Array.isArray(node.required) && node.required.some((name) => names.includes(name))) return false;
  return { ...node, properties: { ...asNode(properties), ...Object.fromEntries(names.map((name) => [name, false])) } };
};

/** A branch of anyOf or oneOf next to which these types stand. */
const narrowed = (part: unknown, types: readonly Type[], path: string): unknown => {
  if (!isObject(part)) return part === true ? { type: types } : part;
  const own = typesOf(part, path);
  const both = own
    ? types.flatMap((a) =>
        own.flatMap((b) =>
          a === b || (a === 'number' && b === 'integer') ? [b] : a === 'integer' && b === 'number' ? [a] : [],
        ),
      )
    : types;
  return both.length === 0 ? false : { ...part, type: both };
};
