// Tests what the Structured tab writes and reads, without a page.
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../src/trace/index.ts';
import { savingsText, validityText } from './answer-text.ts';
import { EXAMPLES } from './examples.ts';
import { readForm, writeForm } from './form-text.ts';

const done = (finish_reason: 'stop' | 'length' | 'aborted', valid: boolean): EventOf<'done'> => ({
  ...{ at: 1, type: 'done', finish_reason, stop: null, text: '' },
  constraint: { valid, forced: 27, masked: 1, ms: 1 },
});

describe('forms', () => {
  it.each([...EXAMPLES])('$title is read as it was written', ({ constraint }) => {
    const { kind, text } = writeForm(constraint);
    expect(readForm(kind, text)).toEqual(constraint);
  });

  it('reads choices one a line, and grammars', () => {
    const choice = { choice: ['yes', 'no'] };
    const { kind, text } = writeForm(choice);
    expect(readForm(kind, `${text}\n`)).toEqual(choice);
    const grammar = { grammar: 'root ::= "a" | "b"' };
    expect(readForm('grammar', writeForm(grammar).text)).toEqual(grammar);
  });

  it('says where a schema is not JSON', () => {
    expect(() => readForm('json_schema', '{"type": }')).toThrow(/the JSON schema is not JSON: Unexpected token/);
  });
});

describe('validity', () => {
  it('is said while the answer is written, and of its end', () => {
    expect(validityText(null, false)).toBe('The prompt is read');
    expect(validityText(null, true)).toBe('Fits the form so far');
    expect(validityText(done('stop', true), true)).toBe('✓ Valid: the answer has this form');
    expect(validityText(done('length', false), true)).toBe('✗ Cut off at the token limit: not valid yet');
    expect(validityText(done('aborted', false), true)).toBe('✗ Stopped: not valid yet');
  });
});

it('the passes that a form saved are counted', () => {
  const text = savingsText({ tokens: 37, target_passes: 9 }, { valid: true, forced: 27, masked: 1, ms: 1 });
  expect(text).toBe(
    '37 tokens with 9 passes of the target · 27 forced by the form, without a pass of their own · ' +
      '1 time the model’s first choice did not fit the form',
  );
});
