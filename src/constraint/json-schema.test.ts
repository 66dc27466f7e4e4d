// Schemas as they are compiled: what is kept is kept exactly (random answers validate with ajv by the schema as it was
// given), and what cannot be kept is refused by name.
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { processorLimit } from '../testing/slowness.ts';
import { bundledTokenizer } from '../testing/toys/text-engine.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { ConstraintCompiler } from './compile.ts';
import { checkConstraint, type JsonSchema } from './constraint.ts';
import { schemaGrammar } from './json-schema.ts';
import { ConstraintMatcher } from './matcher.ts';

const KEPT: Readonly<Record<string, JsonSchema>> = {
  'any JSON': true,
  'an object': { type: 'object' },
  'properties, some required': {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' }, ok: { type: 'boolean' } },
    required: ['name'],
  },
  'a required name without a schema': { type: 'object', required: ['a b'] },
  'additional properties of one kind': { type: 'object', additionalProperties: { type: 'integer' } },
  'properties and additional ones': {
    properties: { a: { type: 'string' } },
    required: ['a', 'b'],
    additionalProperties: { type: 'null' },
  },
  'nothing but listed properties': { type: 'object', properties: { a: true }, additionalProperties: false },
  'integers in a range': { type: 'integer', minimum: -3, exclusiveMaximum: 12 },
  'numbers in a range': { type: 'number', minimum: 0, maximum: 1 },
  'lengths of a string': { type: 'string', minLength: 2, maxLength: 4 },
  'a pattern': { type: 'string', pattern: '^[A-Z]{2}-\\d+$' },
  'a pattern that could match a quote': { type: 'string', pattern: '^.{1,3}[^a-z]$' },
  'a range that holds a quote and a backslash': { type: 'string', pattern: '^[ -~]{1,5}$' },
  'a pattern of many characters': { type: 'string', pattern: '^\\S{0,3}.{0,130}$' },
  'a pattern next to lengths': { type: 'string', pattern: '^[a-z][a-z0-9-]*$', minLength: 3, maxLength: 6 },
  'a format next to a length': { type: 'string', format: 'email', maxLength: 12 },
  'a pattern of several repetitions next to lengths': {
    type: 'string',
    pattern: '^([a-z0-9-]+):([a-z0-9.-]+):([a-z0-9-]+)?:([A-Z]+)$|^$',
    minLength: 9,
    maxLength: 14,
  },
  'repetitions within repetitions next to lengths': {
    type: 'string',
    pattern: '^[a-z\\d]+(?:-[a-z\\d]+)*(\\.\\d{2})?$',
    minLength: 20,
    maxLength: 40,
  },
  'an array of 1 to 3': { type: 'array', items: { enum: ['a', 1, null] }, minItems: 1, maxItems: 3 },
  'an empty array': { type: 'array', items: false },
  'a tuple': { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 },
  'several types': { type: ['string', 'null', 'integer'], minLength: 1, maximum: 5 },
  'a constant': { const: { a: [1, 'x"\\', null] } },
  'an enum of one type': { type: 'string', enum: ['a', 1, 'b'] },
  anyOf: { anyOf: [{ type: 'integer' }, { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }] },
  'allOf: bounds and lengths': {
    allOf: [
      { type: ['number', 'string'], minimum: 3, maxLength: 4 },
      { maximum: 5, minLength: 2 },
    ],
    type: ['integer', 'string'],
  },
  'allOf: properties of all parts': {
    properties: { a: { type: 'integer', minimum: 0 } },
    required: ['a'],
    allOf: [
      { $ref: '#/$defs/named' },
      { title: 'a', properties: { a: { maximum: 9 }, b: { type: 'array', maxItems: 2 } }, required: ['b', 'a'] },
    ],
    $defs: { named: { properties: { name: { maxLength: 3, type: 'string' }, b: { items: { const: 1 } } } } },
  },
  'allOf: a part that closes what another one lists': {
    allOf: [
      { properties: { a: { type: 'integer' }, c: { maxLength: 3 } }, additionalProperties: false },
      { properties: { b: { type: 'string' }, c: { type: 'string' } } },
      { properties: { a: { minimum: 3 } }, required: ['c'] },
    ],
  },
  'allOf: additional properties of several parts': {
    allOf: [
      { properties: { a: { type: 'number', minimum: 0 } }, additionalProperties: { type: 'integer' } },
      { properties: { b: { minimum: 3 } }, additionalProperties: { maximum: 9 } },
      { required: ['a', 'b', 'c'] },
    ],
    properties: { a: true, b: true, c: true },
    additionalProperties: false,
  },
  'oneOf next to properties that are closed': {
    type: 'object',
    properties: { kind: { type: 'string' }, n: { type: 'integer' }, m: { type: 'null' } },
    additionalProperties: false,
    oneOf: [
      { properties: { kind: { const: 'a' }, n: { minimum: 2 } }, required: ['kind'] },
      { properties: { kind: { enum: ['b', 'c'] }, other: true }, required: ['kind', 'm'] },
    ],
  },
  'a type next to a reference to what lists properties': {
    properties: {
      n: { type: 'integer' },
      next: { type: 'object', $ref: '#' },
      any: { type: 'string', $ref: '#/$defs/a' },
    },
    required: ['n', 'any'],
    $defs: { a: { type: ['string', 'null'], maxLength: 3 } },
  },
  'a type next to anyOf of references': {
    type: 'object',
    anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
    $defs: {
      a: { properties: { a: { const: 1 } }, required: ['a'] },
      b: { type: ['object', 'null'], required: ['b'] },
    },
  },
  'nothing that is not evaluated': {
    properties: { none: { type: 'object', unevaluatedProperties: false }, list: { unevaluatedItems: false } },
    required: ['none', 'list', 'a'],
    allOf: [{ properties: { a: { const: 1 } } }],
    unevaluatedProperties: false,
  },
  'references next to what looks like an $id': {
    properties: {
      $id: { $ref: '#/$defs/a', default: { id: 'a', $ref: '#/$defs/b' } },
      id: { items: { $ref: '#/$defs/a' }, type: 'array' },
      other: { $id: 'https://example.com/other', type: 'boolean' },
    },
    required: ['$id', 'id'],
    $defs: { a: { type: 'integer' } },
  },
  'oneOf by a constant': {
    oneOf: [
      { type: 'object', properties: { kind: { const: 'a' }, n: { type: 'integer' } }, required: ['kind', 'n'] },
      { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
    ],
  },
  'oneOf by the properties that are required': {
    oneOf: [{ $ref: '#/$defs/a' }, { type: 'object', properties: { b: { const: 1 } }, required: ['b'] }],
    $defs: { a: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] } },
  },
  'oneOf by a constant, where one branch may be null': {
    oneOf: [
      { type: ['object', 'null'], properties: { kind: { const: 'a' } }, required: ['kind'] },
      { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
    ],
  },
  'oneOf next to a type that a branch lacks': { type: 'string', oneOf: [{ type: 'integer' }, { maxLength: 2 }] },
  'oneOf by a property that is required, next to what all have': {
    type: ['object', 'null'],
    properties: { a: { const: 1 }, b: { type: 'boolean' }, c: { type: 'null' } },
    additionalProperties: false,
    oneOf: [{ required: ['a'] }, { type: 'object', required: ['b'] }],
  },
  'oneOf by a property, of which one is always there': {
    properties: { a: { const: 1 }, b: { const: 2 } },
    required: ['b'],
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  'oneOf by a constant, next to a property that all have': {
    type: 'object',
    properties: { name: { type: 'string', maxLength: 2 } },
    required: ['name'],
    oneOf: ['a', 'b'].map((kind) => ({ properties: { kind: { const: kind } }, required: ['kind'] })),
  },
  'anyOf of properties that are required, next to them': {
    type: 'object',
    properties: { a: { const: 1 }, b: { const: 2 } },
    additionalProperties: false,
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  'keywords next to a reference and to anyOf': {
    $defs: { a: { type: 'integer', minimum: -3 } },
    properties: {
      a: { $ref: '#/$defs/a', maximum: 5 },
      b: { anyOf: [{ maximum: 12 }, { multipleOf: 50 }], minimum: 9 },
    },
    required: ['a', 'b'],
  },
  'allOf: keywords next to a reference': {
    allOf: [{ $ref: '#/$defs/a', maxLength: 3 }],
    $defs: { a: { $ref: '#/$defs/b', minLength: 2 }, b: { type: 'string' } },
  },
  'a type next to a reference': {
    properties: { a: { type: 'string', $ref: '#/$defs/a' } },
    required: ['a'],
    $defs: { a: { type: 'string', maxLength: 2 } },
  },
  'references, circular too': {
    $defs: {
      node: {
        type: 'object',
        properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
        required: ['value', 'next'],
      },
    },
    $ref: '#/$defs/node',
  },
  'names that need escapes': {
    type: 'object',
    properties: { 'a"b\\c\n': { const: 1 }, é: { const: 2 } },
    required: ['a"b\\c\n', 'é'],
  },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'time' },
  'date-time': { type: 'string', format: 'date-time' },
  uuid: { type: 'string', format: 'uuid' },
  ipv4: { type: 'string', format: 'ipv4' },
  email: { type: 'string', format: 'email' },
  duration: { type: 'string', format: 'duration' },
  hostname: { type: 'string', format: 'hostname' },
  uri: { type: 'string', format: 'uri' },
  'numbers with decimals in their bounds': { type: 'number', minimum: -1.25, exclusiveMaximum: 0.5 },
  'a narrow range': { type: 'number', exclusiveMinimum: 0.2, maximum: 0.35 },
  'an integer of 32 bits': { type: 'integer', format: 'int32', minimum: -5 },
  'a type next to anyOf': {
    type: ['string', 'number'],
    anyOf: [{ type: 'integer' }, { maxLength: 2 }, { type: 'null' }],
  },
  'keywords of other types': {
    type: 'string',
    maxLength: 3,
    properties: { a: false },
    multipleOf: 2,
    uniqueItems: true,
  },
  'annotations of an application': { 'x-order': 3, name: 'a', type: 'string', maxLength: 3, readonly: true },
  'counts that listed properties fulfil': {
    type: 'object',
    properties: { a: { const: 1 }, b: { const: 2 } },
    required: ['a'],
    minProperties: 1,
    maxProperties: 2,
  },
  'two of the listed properties': {
    properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 }, d: { const: 4 } },
    minProperties: 2,
    maxProperties: 2,
  },
  'one required property and at most one other': {
    properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } },
    required: ['b'],
    maxProperties: 2,
  },
  'all of the listed properties': { properties: { a: { const: 1 }, b: { const: 2 } }, minProperties: 2 },
  'none of the listed properties': { properties: { a: true }, maxProperties: 0 },
  'no value of a type': { not: { type: ['integer', 'object', 'array'], maxLength: 1 }, maxLength: 4 },
  'a property that must not be there': { properties: { a: false, b: { not: {} } } },
  'multiples of a number': {
    type: 'object',
    properties: { a: { multipleOf: 25 }, b: { multipleOf: 2, minimum: 7 } },
    required: ['a', 'b'],
  },
  'multiples between bounds': { type: 'integer', multipleOf: 7, minimum: -14, exclusiveMaximum: 21 },
  'patterns of names': { type: 'object', patternProperties: { '^[ab]$': { type: 'integer' }, 'a|c': { minimum: 5 } } },
  'a pattern that a listed name matches': {
    properties: { foo: { type: 'array', maxItems: 2 } },
    patternProperties: { 'f.o': { minItems: 1, items: { type: 'null' } }, x: { type: 'boolean' } },
    required: ['foo', 'xx'],
    additionalProperties: false,
  },
  'at most two properties': { minProperties: 1, maxProperties: 2, additionalProperties: { type: 'null' } },
  'properties that ask for others': {
    properties: { a: { const: 1 }, b: { type: 'null' }, c: { type: 'boolean' } },
    dependentRequired: { a: ['b'], b: ['c'] },
    dependentSchemas: { c: { properties: { c: { const: true } }, required: ['d'] } },
  },
  ipv6: { type: 'string', format: 'ipv6' },
  'a format next to a pattern that its texts match, with and without a look-ahead': {
    type: 'object',
    properties: {
      email: {
        format: 'email',
        pattern: "^(?!\\.)(?!.*\\.\\.)[\\w.+'-]*[\\w+-]@([A-Za-z0-9][A-Za-z0-9-]*\\.)+[A-Za-z]{2,}$",
      },
      uuid: { format: 'uuid', pattern: '^([0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|0{8}-(0{4}-){3}0{12})$' },
    },
    required: ['email', 'uuid'],
  },
  'a time that its pattern wants without an offset': {
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?Z$',
  },
  'a version that its pattern wants of a UUID': {
    format: 'uuid',
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89abAB][0-9a-f]{3}-[0-9a-f]{12}$',
  },
  'a pattern with lengths that its texts have': { pattern: '^[A-Z]{2,3}(-\\d)?$', minLength: 2, maxLength: 5 },
  'a format with lengths that its texts have': { format: 'email', minLength: 1, maxLength: 254 },
  'names of any text': { type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: 'null' } },
  'names of a list, one of them required': {
    type: 'object',
    propertyNames: { enum: ['a', 'b', 'c'] },
    properties: { b: { const: 1 }, d: { const: 2 } },
    additionalProperties: { type: 'boolean' },
    required: ['a'],
  },
  'names of a pattern': { type: 'object', propertyNames: { pattern: '^x[a-c]$' }, additionalProperties: { const: 1 } },
  'a tuple that goes on': {
    type: 'array',
    prefixItems: [{ type: 'string' }, { const: 1 }],
    items: { type: 'null' },
    minItems: 1,
    maxItems: 4,
  },
};

const REFUSED: Readonly<Record<string, readonly [schema: unknown, message: string]>> = {
  false: [false, 'false allows no value'],
  not: [{ not: { maxLength: 3 } }, 'at its root: not is not supported'],
  'not next to its type': [{ type: 'integer', not: { type: 'number' } }, 'at its root: not is not supported'],
  uniqueItems: [{ properties: { a: { type: 'array', uniqueItems: true } } }, '/properties/a: uniqueItems'],
  'multiples of a fraction': [{ type: 'number', multipleOf: 0.1 }, 'multipleOf 0.1 is not supported'],
  'multiples that no last digits show': [{ type: 'number', multipleOf: 3 }, 'multipleOf 3 is not supported'],
  'no multiple between the bounds': [{ multipleOf: 5, minimum: 1, maximum: 4 }, 'no number lies between'],
  'allOf with two patterns': [{ allOf: [{ pattern: 'a' }, { pattern: 'b' }] }, 'pattern in several parts of allOf'],
  'allOf without a common type': [{ allOf: [{ type: 'string' }, { type: 'null' }] }, 'exclude each other'],
  'allOf with a part that evaluates alone': [
    { allOf: [{ properties: { a: true }, unevaluatedProperties: false }, { properties: { b: true } }] },
    'unevaluatedProperties in a part of allOf',
  ],
  'allOf with a part that evaluates alone, next to another allOf': [
    { allOf: [{ type: 'object', unevaluatedProperties: false }, { allOf: [{ properties: { a: true } }] }] },
    'unevaluatedProperties in a part of allOf',
  ],
  'allOf of circular references': [
    {
      $defs: {
        a: { properties: { l: { $ref: '#/$defs/a' }, r: { $ref: '#/$defs/a' } } },
        b: { properties: { l: { $ref: '#/$defs/b' }, r: { $ref: '#/$defs/b' } } },
      },
      allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
    },
    'nested more than 64 deep',
  ],
  'oneOf that overlaps': [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 'under two branches of oneOf'],
  'oneOf by a constant, where several branches may be null': [
    {
      oneOf: ['a', 'b'].map((kind) => ({
        type: ['object', 'null'],
        properties: { kind: { const: kind } },
        required: ['kind'],
      })),
    },
    'under two branches of oneOf',
  ],
  'oneOf by a constant of any value': [
    {
      type: ['object', 'string'],
      oneOf: ['a', 'b'].map((kind) => ({ properties: { kind: { const: kind } }, required: ['kind'] })),
    },
    'under two branches of oneOf',
  ],
  'oneOf of the same object in another order': [
    { oneOf: [{ const: { a: 1, b: [{ c: 1, d: 2 }] } }, { const: { b: [{ d: 2, c: 1 }], a: 1 } }] },
    'under two branches of oneOf',
  ],
  if: [{ if: {}, else: {} }, 'if is not supported'],
  'patterns that exclude each other': [
    { patternProperties: { a: { type: 'string' }, b: { type: 'null' } } },
    '/patternProperties: the types that it must have exclude each other',
  ],
  'a pattern of names that takes a step for each way to divide a name': [
    { properties: { [`${'a'.repeat(60)}!`]: true }, patternProperties: { '^(a+)+$': true } },
    '/patternProperties: "^(a+)+$" takes too many steps',
  ],
  'a pattern of names that is none': [{ patternProperties: { '(': true } }, '"(" is no pattern'],
  'contains next to unevaluatedItems': [
    { unevaluatedItems: true, contains: { const: 1 } },
    'contains is not supported',
  ],
  'a schema of what is not evaluated': [
    { properties: { a: true }, unevaluatedProperties: { type: 'null' } },
    'unevaluatedProperties is not supported',
  ],
  'a schema of items that are not evaluated': [
    { type: 'array', unevaluatedItems: { type: 'null' } },
    'unevaluatedItems is not supported',
  ],
  'names of properties': [{ type: 'object', propertyNames: { maxLength: 3 } }, 'propertyNames is not supported'],
  'oneOf whose branches may write more': [
    { oneOf: [{ properties: { a: true }, required: ['a'], dependencies: { a: ['b'] } }, { required: ['b'] }] },
    'under two branches of oneOf',
  ],
  'crossed numbers of properties': [{ minProperties: 1, maxProperties: 0 }, 'minProperties 1 exceeds maxProperties 0'],
  minProperties: [{ type: 'object', minProperties: 2 }, 'minProperties'],
  'an empty enum': [{ enum: [] }, 'enum allows no value'],
  'an enum of another type': [{ type: 'integer', enum: ['a'] }, 'enum allows no value'],
  'an unknown type': [{ type: 'text' }, 'type "text" does not exist'],
  'crossed lengths': [{ type: 'string', minLength: 5, maxLength: 2 }, 'minLength 5 exceeds maxLength 2'],
  'a required name that is forbidden': [
    { properties: {}, required: ['x'], additionalProperties: false, type: 'object' },
    '"x" is required',
  ],
  'a reference elsewhere': [{ $ref: 'https://example.com/schema' }, 'is not a place in this schema'],
  'a reference to nothing': [{ $ref: '#/$defs/no' }, 'names nothing'],
  'a reference with a wrong escape': [{ $ref: '#/$defs/50%ff' }, 'names nothing'],
  'a reference to an anchor': [
    { allOf: [{ $ref: '#name' }], $defs: { name: { $anchor: 'name', type: 'string' } } },
    '$ref "#name" is not a place in this schema',
  ],
  'the opposite of an anchor': [{ type: 'string', not: { $ref: '#name' } }, 'not is not supported'],
  'a reference below an $id': [
    {
      properties: { a: { $id: 'https://example.com/a', $ref: '#/$defs/b', $defs: { b: { type: 'string' } } } },
      $defs: { b: { type: 'integer' } },
    },
    '/properties/a: $ref "#/$defs/b" below an $id',
  ],
  'a reference below an id of an older draft': [
    { properties: { id: { id: 'a', items: [{ $ref: '#/definitions/b' }] } }, definitions: { b: true } },
    '/properties/id/items/0: $ref',
  ],
  'an unsupported format': [{ type: 'string', format: 'iri' }, 'format "iri" is not supported'],
  'a misspelt keyword': [{ type: 'string', maxLenght: 3 }, 'maxLenght is no keyword'],
  'required as a flag': [{ properties: { a: { type: 'string', required: true } } }, 'required must be a list'],
  'oneOf that is not told apart': [
    {
      oneOf: [
        { properties: { a: true }, required: ['a'] },
        { properties: { a: true, b: true }, required: ['b'] },
      ],
    },
    'under two branches of oneOf',
  ],
  'another type next to a reference': [
    { properties: { a: { type: 'integer', $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } },
    '/properties/a: the types that it must have exclude each other',
  ],
  'types that exclude each other': [{ type: 'string', anyOf: [{ type: 'integer' }] }, 'anyOf allows no value'],
  'more properties than are listed': [{ properties: { a: true }, minProperties: 2 }, 'fewer than minProperties'],
  'fewer properties than are required': [{ required: ['a', 'b'], maxProperties: 1 }, 'more than maxProperties'],
  'a property, and none possible': [
    { properties: { a: false }, minProperties: 1 },
    'minProperties 1, and no properties',
  ],
  'oneOf that requires the same property twice': [
    { properties: { a: true }, oneOf: [{ required: ['a'] }, { required: ['a'] }] },
    'under two branches of oneOf',
  ],
  'oneOf by a property, next to another type': [
    { type: 'string', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    'oneOf allows no value',
  ],
  'a bound next to an enum': [{ enum: [1, 2], minimum: 2 }, 'minimum next to enum is not supported'],
  'a reference to nothing, next to a bound': [{ $ref: '#/$defs/no', minimum: 2 }, 'names nothing'],
  'an end inside a group': [{ pattern: '^(a$|b)c' }, '$ inside a pattern is not supported'],
  'a count that ends before it begins': [{ pattern: '^a{2,0}$' }, '{2,0} ends before it begins'],
  'a look-ahead': [{ type: 'string', pattern: '^a(?=b)' }, 'look-around'],
  'a quote in a pattern': [{ type: 'string', pattern: '"' }, 'which a JSON string escapes'],
  'a pattern of longer texts': [{ type: 'string', pattern: '[a-z]{10}.*', maxLength: 9 }, 'may be shorter or longer'],
  'a pattern whose texts never have the length': [
    { type: 'string', pattern: '(ab)*', minLength: 3, maxLength: 3 },
    'may be shorter or longer',
  ],
  'a format of longer texts': [{ type: 'string', format: 'date', maxLength: 9 }, 'may be shorter or longer'],
  'a format and a pattern of other texts': [{ format: 'date', pattern: '^2026-' }, 'need not match its pattern'],
  'a format that is not kept, next to a pattern': [{ format: 'iri', pattern: '.*' }, 'format "iri" is not supported'],
  'a required name that no name may be': [
    { type: 'object', propertyNames: { enum: ['a'] }, required: ['b'] },
    '"b" is required',
  ],
  'names of a list, next to patterns': [
    { propertyNames: { enum: ['a'] }, patternProperties: { a: true } },
    'propertyNames is not supported',
  ],
  'oneOf told apart by names that are listed elsewhere': [
    {
      oneOf: [
        { type: 'object', propertyNames: { enum: ['a', 'b'] }, required: ['a'] },
        { type: 'object', properties: { b: true }, required: ['b'] },
      ],
    },
    'under two branches of oneOf',
  ],
};

let tokenizer: Tokenizer;
let compiler: ConstraintCompiler;
beforeAll(async () => {
  tokenizer = await bundledTokenizer();
  compiler = new ConstraintCompiler();
});

const hash = (n: number): number => {
  n = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  n = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  return (n ^ (n >>> 16)) >>> 0;
};

/** Some answer that the constraint allows, each token drawn among the allowed ones; null: it did not end in time. */
const randomAnswer = async (matcher: ConstraintMatcher, seed: number, most = 200): Promise<string | null> => {
  const text: number[] = [];
  while (text.length < most) {
    if (await matcher.ends(text)) return tokenizer.decode(text);
    // Where the answer may end, it does, every second time.
    if (matcher.complete(text) && hash(seed + 7 * text.length) % 2 === 0) return tokenizer.decode(text);
    const allowed = await matcher.allowed(text);
    const possible = Array.from({ length: tokenizer.vocabulary }, (_, t) => t).filter(
      (t) => ((allowed[t >>> 5] ?? 0) >>> (t & 31)) & 1,
    );
    // A short token, so that names and numbers come to an end.
    const drawn = possible[hash(seed * 1000 + text.length) % possible.length];
    if (drawn === undefined) throw new Error(`a dead end after ${JSON.stringify(tokenizer.decode(text))}`);
    text.push(drawn);
  }
  return null;
};

const openMatcher = async (
  constraint: Parameters<ConstraintCompiler['compile']>[0],
  begin = '',
): Promise<ConstraintMatcher> => {
  const reader = { tokenizer, vocabulary: tokenizer.vocabulary, marks: new Map(), stopTokens: new Set<number>() };
  return ConstraintMatcher.open((await compiler.compile(constraint, reader)).compiled, begin);
};

describe('schemas that are kept', () => {
  const ajv = new Ajv({ strict: false, validateFormats: true });
  addFormats.default(ajv as never);

  it.each(Object.keys(KEPT))('%s: random answers are valid', async (name) => {
    const schema = KEPT[name] as JsonSchema;
    const valid = ajv.compile(schema as object);
    for (const whitespace of ['fixed', 'any'] as const) {
      using matcher = await openMatcher({ json_schema: schema, whitespace });
      let complete = 0;
      for (let seed = 0; seed < 12; seed++) {
        const answer = await randomAnswer(matcher, seed);
        // Bytes drawn at random are seldom characters; what is no text has no length that ajv and a grammar agree on.
        if (answer === null || answer.includes('\ufffd')) continue;
        complete++;
        expect(valid(JSON.parse(answer)), answer).toBe(true);
      }
      if (name !== 'any JSON' && name !== 'an object') expect(complete, name).toBeGreaterThan(0);
    }
  });
});

describe('formats that ajv reads loosely', () => {
  it.each(['P1Y2D', 'PT1H2S'])('a duration leaves out no unit between two (RFC 3339): %s', async (text) => {
    await expect(openMatcher({ json_schema: { format: 'duration' } }, `"${text}`)).rejects.toThrow('does not allow');
  });
});

describe('expressions that applications use', () => {
  it.each([
    /^https?:\/\/[^\s$.?#].[^\s]{0,9}$/,
    /^[\w.%+-]{1,5}@[\w.-]{1,5}\.[a-zA-Z]{2,4}$/,
    /^\s?"[a-zA-Z]{1,4}"(?:,\s?"[a-zA-Z]{1,4}")?$/,
    /^([^,]{1,4},){1,2}[^,]{1,4}$/,
    /^(\* .{1,4}\n?){1,2}$/,
    /^(?<hour>[01]?\d|2[0-3]):[0-5]\d$/,
  ])('%s: random answers match', async (pattern) => {
    using matcher = await openMatcher({ regex: pattern.source });
    let matched = 0;
    for (let seed = 0; seed < 12; seed++) {
      const answer = await randomAnswer(matcher, seed);
      if (answer === null || answer.includes('\ufffd')) continue;
      expect(answer).toMatch(new RegExp(pattern, 'u')); // counts characters, as JSON Schema does
      matched++;
    }
    expect(matched).toBeGreaterThan(0);
  });

  it('a special token that a model draws prints nothing: the command line writes JSON there', async () => {
    const log = vi.spyOn(console, 'log');
    const special = tokenizer.eos[0] as number;
    const reader = { tokenizer, vocabulary: tokenizer.vocabulary, marks: new Map(), stopTokens: new Set<number>() };
    using matcher = await ConstraintMatcher.open((await compiler.compile({ regex: '(.|\\n)*' }, reader)).compiled);
    expect(matcher.allows([], special)).toBe(false);
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });

  it('go on from the beginning of an answer, if it follows them', async () => {
    const reader = { tokenizer, vocabulary: tokenizer.vocabulary, marks: new Map(), stopTokens: new Set<number>() };
    const { compiled } = await compiler.compile({ regex: 'Well(ab|c)' }, reader);
    using matcher = await ConstraintMatcher.open(compiled, 'Wel');
    expect(await randomAnswer(matcher, 1)).toMatch(/^l(ab|c)$/);
    await expect(ConstraintMatcher.open(compiled, 'We will')).rejects.toThrow('begins with "We will"');
    await expect(ConstraintMatcher.open(compiled, 'Wellc')).rejects.toThrow('nothing may follow');
  });
});

describe('schemas that are refused', () => {
  it.each(Object.keys(REFUSED))('%s, by name and place', (name) => {
    const [schema, message] = REFUSED[name] as (typeof REFUSED)[string];
    expect(() => schemaGrammar(schema as JsonSchema)).toThrowError(
      expect.objectContaining({ code: 'bad-constraint', message: expect.stringContaining(message) }),
    );
  });

  it('a keyword next to an enum, with what to do instead', () => {
    const hint = 'Leave out the values that minimum excludes.';
    expect(() => schemaGrammar({ enum: [1, 2], minimum: 2 })).toThrowError(expect.objectContaining({ hint }));
  });

  it('a format that JSON Schema does not have is an annotation next to a pattern', () => {
    const pattern = '^ab.*$';
    expect(schemaGrammar({ format: 'starts_with', pattern })).toBe(schemaGrammar({ pattern }));
  });

  it('flags of draft 4 make bounds exclusive', () => {
    expect(
      schemaGrammar({ type: 'integer', minimum: 3, maximum: 5, exclusiveMinimum: true, exclusiveMaximum: true }),
    ).toBe(schemaGrammar({ type: 'integer', minimum: 4, maximum: 4 }));
  });

  it('a list of items is a tuple, as until 2019', () => {
    const tuple = [{ type: 'string' }, { const: 1 }];
    expect(schemaGrammar({ type: 'array', items: tuple, additionalItems: false })).toBe(
      schemaGrammar({ type: 'array', prefixItems: tuple, items: false }),
    );
  });

  it('a tuple is closed where no other items are evaluated', () => {
    expect(schemaGrammar({ items: [{ type: 'string' }], unevaluatedItems: false })).toBe(
      schemaGrammar({ items: [{ type: 'string' }], additionalItems: false }),
    );
  });

  it('nothing that is not evaluated is said of objects: no other value is written', () => {
    expect(schemaGrammar({ unevaluatedProperties: false })).toBe(
      schemaGrammar({ type: 'object', additionalProperties: false }),
    );
  });

  it('dependencies that multiply', () => {
    const triggers = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, ['e']]));
    const within = (depth: number): JsonSchema => ({
      properties: { a: true, b: true, c: true, d: depth > 0 ? within(depth - 1) : true, e: true },
      dependentRequired: triggers,
    });
    expect(() => schemaGrammar(within(0))).not.toThrow();
    expect(() => schemaGrammar(within(8))).toThrow('more than 256 sets of dependencies');
  });

  it('a schema that is nested without end', () => {
    let schema: JsonSchema = { type: 'null' };
    for (let i = 0; i < 5000; i++) schema = { type: 'array', items: schema };
    expect(() => schemaGrammar(schema)).toThrow('nested more than 64 deep');
  });
});

it('thousands of branches of oneOf are told apart at once', () => {
  const began = process.cpuUsage();
  for (const branch of [
    (i: number) => ({ const: `branch ${i}` }),
    (i: number) => ({ properties: { kind: { const: i } }, required: ['kind'] }),
  ]) {
    const oneOf = Array.from({ length: 3000 }, (_, i) => branch(i));
    expect(schemaGrammar({ oneOf })).toContain('2999');
    expect(() => schemaGrammar({ oneOf: [...oneOf, branch(5)] })).toThrow('under two branches of oneOf');
  }
  const { user, system } = process.cpuUsage(began);
  const ms = (user + system) / 1000;
  expect(ms).toBeLessThan(processorLimit(ms, 8000));
});

describe('constraints that are refused', () => {
  it.each([
    [null, 'must be an object'],
    [{}, 'nothing was given'],
    [{ regex: 'a', choice: ['b'] }, 'has one of'],
    [{ regex: '' }, 'not empty'],
    [{ choice: [] }, 'choice must be a list'],
    [{ regex: 'a', whitespace: 'any' }, 'has no field "whitespace"'],
    [{ json_schema: 'x' }, 'json_schema must be an object'],
    [{ grammar: 'x'.repeat(300_000) }, 'at most 262144'],
    [{ choice: ['yes', 'n\0'] }, 'U+0000'],
    [{ regex: 'a\ud800' }, 'surrogate'],
  ])('%o', (constraint, message) => {
    expect(() => checkConstraint(constraint)).toThrowError(
      expect.objectContaining({ code: 'bad-constraint', message: expect.stringContaining(message as string) }),
    );
  });

  it.each([
    [{ regex: 'a\\0' }, 'which no answer holds'],
    [{ regex: '(?<!a)b' }, 'look-around'],
    [{ regex: '(?i)b' }, '(?i in a pattern is not supported'],
    [{ grammar: 'root ::= "a\\x00b"' }, 'asks for U+0000'],
    [{ grammar: 'root ::= "a" [\\0]' }, 'asks for U+0000'],
    [{ grammar: 'root ::= "a" root' }, 'more must follow'],
    [{ json_schema: { properties: { a: { $ref: '#' } }, required: ['a'] } }, 'more must follow'],
    [
      { json_schema: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } } },
      'more must',
    ],
  ] as const)('%o, when it is compiled', async (constraint, message) => {
    await expect(openMatcher(constraint)).rejects.toMatchObject({
      code: 'bad-constraint',
      message: expect.stringContaining(message),
    });
  });

  const deep = (within: string, depth: number): string => '('.repeat(depth) + within + ')'.repeat(depth);
  const tooLong = 'would have more than 2097152 characters';
  it.each([
    ['a regex of 200 groups', { regex: deep('a', 200) }, 'nested more than 100 deep'],
    ['a pattern of 500 groups', { json_schema: { pattern: deep('a', 500) } }, 'nested more than 100 deep'],
    ['a grammar of 100 000 groups', { grammar: `root ::= ${deep('"a"', 1e5)}` }, 'nested more than 100 deep'],
    ['counts of counts', { regex: '(((a{100}){100}){100}){20}' }, tooLong],
    ['counts of counts in a grammar', { grammar: 'root ::= ((("a"{100}){100}){100}){2, 20}' }, tooLong],
    ['many counts', { regex: 'a{127}'.repeat(40_000) }, 'counts of the pattern'],
    ['many optional characters', { regex: '[à-é]{0,1000}'.repeat(1000) }, 'counts of the pattern'],
    [
      'many patterns with counts',
      { json_schema: { prefixItems: Array.from({ length: 400 }, (_, i) => ({ pattern: `[à-é]{1000}${i}` })) } },
      'its grammar is too long',
    ],
    [
      'lengths of a pattern with counts of counts',
      { json_schema: { pattern: '([a-z]{0,1000}){0,4}', maxLength: 9 } },
      'too many steps to follow',
    ],
    ['brackets that are not closed', { grammar: `root ::= ${'['.repeat(260_000)}` }, 'Unterminated'],
  ] as const)('%s: the next one compiles', async (_, constraint, message) => {
    await expect(openMatcher(constraint)).rejects.toMatchObject({
      code: 'bad-constraint',
      message: expect.stringContaining(message),
    });
    using matcher = await openMatcher({ regex: '[ab]d' });
    expect(await randomAnswer(matcher, 1)).toMatch(/^[ab]d$/);
  });

  it('groups of 64 are kept', async () => {
    using matcher = await openMatcher({ regex: deep('a', 64) });
    expect(await randomAnswer(matcher, 1)).toBe('a');
  });

  it('a grammar with an error in line 2, by the compiler’s own words; the next one compiles', async () => {
    await expect(openMatcher({ grammar: 'root ::= "a"\nroot2 ::= (' })).rejects.toThrow(/EBNF .* line 2/);
    await expect(openMatcher({ regex: '(' })).rejects.toMatchObject({ code: 'bad-constraint' });
    using matcher = await openMatcher({ regex: '[ab]c' });
    expect(await randomAnswer(matcher, 1)).toMatch(/^[ab]c$/);
  });
});
