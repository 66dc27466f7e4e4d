// A constraint as the visitor writes it: a kind, and a text. A JSON schema is JSON, choices are one a line.
import { OutriderError } from '../../src/index.ts';
import type { Constraint } from './examples.ts';

export const KINDS = {
  json_schema: 'JSON schema',
  regex: 'Regular expression',
  choice: 'Choices, one a line',
  grammar: 'Grammar (EBNF)',
} as const;

export type Kind = keyof typeof KINDS;

const isKind = (name: string): name is Kind => Object.hasOwn(KINDS, name);

/** The kind and the text of a constraint, the inverse of `readForm`. */
export const writeForm = (constraint: Constraint): { readonly kind: Kind; readonly text: string } => {
  if ('json_schema' in constraint)
    return { kind: 'json_schema', text: JSON.stringify(constraint.json_schema, null, 2) };
  if ('regex' in constraint) return { kind: 'regex', text: constraint.regex };
  if ('choice' in constraint) return { kind: 'choice', text: constraint.choice.join('\n') };
  return { kind: 'grammar', text: constraint.grammar };
};

/** Throws `bad-constraint` where a JSON schema is not JSON. What the schema means, the engine checks. */
export const readForm = (kind: string, text: string): Constraint => {
  if (!isKind(kind)) throw new TypeError(`no kind of constraint: ${kind}`);
  if (kind === 'regex') return { regex: text };
  if (kind === 'grammar') return { grammar: text };
  if (kind === 'choice') return { choice: text.split('\n').filter((line) => line !== '') };
  try {
    return { json_schema: JSON.parse(text) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OutriderError('bad-constraint', `the JSON schema is not JSON: ${why}`, 'Correct the schema.');
  }
};
