// Examples for the Structured tab: each is a prompt and the form that its answer takes.
import type { RunRequest } from '../../src/index.ts';

export type Constraint = NonNullable<RunRequest['constraint']>;

export interface Example {
  readonly title: string;
  readonly prompt: string;
  readonly constraint: Constraint;
}

const integer = (maximum: number) => ({ type: 'integer', minimum: 0, maximum });

const STONES = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';

export const EXAMPLES: readonly Example[] = [
  {
    title: 'Form',
    prompt: STONES,
    constraint: {
      json_schema: {
        type: 'object',
        properties: {
          name: { enum: ['Bob', 'Eva', 'Ida'] },
          has: integer(1000),
          item: { enum: ['books', 'cups', 'stones'] },
        },
        required: ['name', 'has', 'item'],
      },
    },
  },
  {
    title: 'Invoice',
    prompt: 'A shop sells 4 cups for 3 dollars each. How much are they?',
    constraint: {
      json_schema: {
        type: 'object',
        properties: {
          invoice: {
            type: 'object',
            properties: {
              lines: {
                type: 'array',
                minItems: 1,
                maxItems: 2,
                items: {
                  type: 'object',
                  properties: { item: { enum: ['cup', 'book'] }, count: integer(99), price: integer(99) },
                  required: ['item', 'count', 'price'],
                },
              },
              currency: { const: 'USD' },
              total: integer(999),
            },
            required: ['lines', 'currency', 'total'],
          },
        },
        required: ['invoice'],
      },
    },
  },
  {
    title: 'Tool call',
    prompt: STONES,
    constraint: {
      json_schema: {
        type: 'object',
        properties: {
          tool: { enum: ['add', 'subtract', 'multiply'] },
          arguments: {
            type: 'object',
            properties: { a: integer(1000), b: integer(1000) },
            required: ['a', 'b'],
          },
        },
        required: ['tool', 'arguments'],
      },
    },
  },
  {
    title: 'Sentences',
    prompt: STONES,
    constraint: { regex: '[A-Z][^\\n]{1,120}\\.\\n\\nThe answer is [0-9]{1,4}\\.' },
  },
];
