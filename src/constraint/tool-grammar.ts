// Calls of tools as a grammar, in the form of the model's family. Arguments are valid by a function's schema; where the
// schema cannot be kept, a strict function is refused, and others may take any object.
import { OutriderError } from '../base/errors.ts';
import { badConstraint } from '../base/refuse.ts';
import type { GrammarRules, ToolFamily } from '../text/tool-calls/family.ts';
import type { ToolFunction, Tools } from '../text/tool-calls/tools.ts';
import type { JsonSchema } from './constraint.ts';
import { rulesOfJson, schemaRules } from './json-schema.ts';
import { characterClass, complement, literal } from './literal.ts';

const code = (character: string): number => character.codePointAt(0) as number;

/** Any character but this one. */
const not = (...characters: readonly string[]): string =>
  characterClass(complement(characters.map((each) => [code(each), code(each)])));

/** Joins the parts of a rule; an empty text is no part. */
const sequence = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ') || '""';

class Writer implements GrammarRules {
  readonly rules: string[] = [];
  #strict = false;
  #schemas = 0;

  call(family: ToolFamily, own: ToolFunction): string {
    this.#strict = own.strict === true;
    try {
      return family.grammar.call(own, this);
    } catch (cause) {
      if (cause instanceof OutriderError)
        throw badConstraint(`tools: ${own.name}: ${cause.message}`, cause.hint, { cause });
      throw cause;
    }
  }

  readonly json = (schema: unknown): string => {
    const name = `v${this.#schemas}`;
    try {
      const { root, rules } = schemaRules(schema as JsonSchema, `t${this.#schemas++}`);
      this.rules.push(`${name} ::= ${root}`, ...rules);
      return name;
    } catch (cause) {
      if (this.#strict) throw cause;
      return (schema as { readonly type?: unknown } | null)?.type === 'object' ? 'object' : 'value';
    }
  };

  /** Narrower than it could be: the text has no `</` at all. */
  readonly until = (end: string): string => `(${not('<')} | "<" ${not('<', '/')})* ${literal(end)}`;
}

export interface ToolGrammarOptions {
  readonly family: ToolFamily;
  readonly tools: Tools;
  /** What an answer without a call is, where it is constrained too. */
  readonly answer?: JsonSchema | undefined;
}

/** Null: the model may write what it likes. */
export const toolGrammar = ({ family, tools, answer }: ToolGrammarOptions): string | null => {
  const { functions, choice = 'auto', parallel = true } = tools;
  const writer = new Writer();
  const wanted = typeof choice === 'object' ? functions.filter(({ name }) => name === choice.name) : functions;
  const must = choice !== 'auto';
  if (!must && answer === undefined && !functions.some(({ strict }) => strict)) return null;
  const { before, between, after, single } = family.grammar;
  const calls = wanted.map((own) => writer.call(family, own));
  const several = parallel && !single;
  const list = (first: string, each: string): string =>
    sequence(first, each, several ? `(${sequence(between, each)})*` : '', after);
  const rules = [...rulesOfJson('fixed'), ...writer.rules];
  const grammar = (root: string, ...more: readonly string[]): string =>
    [`root ::= ${root}`, ...more, ...rules].join('\n');
  const call = `call ::= ${calls.join(' | ')}`;
  if (must) return grammar(list(before, 'call'), call);
  if (answer !== undefined) {
    const { root, rules: own } = schemaRules(answer, 'a');
    return grammar(`calls | ${root}`, call, `calls ::= ${list(before, 'call')}`, ...own);
  }
  const [mark] = family.open;
  if (family.atStart)
    return grammar('calls | text', call, `calls ::= ${list(before, 'call')}`, `text ::= "" | ${not('{')} (${not()})*`);
  // The mark is where the free text ends; its rule is what follows.
  const opened = literal(mark as string).slice(1, -1);
  const cut = (text: string): string => text.replace(`"${opened}`, '"');
  const rest = before === '' ? list('', 'opened') : list(cut(before), 'call');
  const dispatch = `TagDispatch((${literal(mark as string)}, rest), loop_after_dispatch=${several})`;
  const opening = before === '' ? [`opened ::= ${calls.map(cut).join(' | ')}`] : [];
  // After the first call of a list without brackets the free text goes on, so each call has its own mark.
  return grammar(dispatch, call, ...opening, `rest ::= ${before === '' ? 'opened' : rest}`);
};
