// Calls of tools as a grammar, in the form of the model's family. Arguments are valid by a function's schema; where the
// schema cannot be kept, a strict function is refused, and others may take any object.
import { OutriderError } from '../base/errors.ts';
import { badConstraint } from '../base/refuse.ts';
import type { GrammarRules, ToolFamily } from '../text/tool-calls/family.ts';
import type { ToolFunction, Tools } from '../text/tool-calls/tools.ts';
import type { Constraint, JsonSchema } from './constraint.ts';
import { rulesOfJson, schemaRules } from './json-schema.ts';
import { literal } from './literal.ts';
import { checkKeywords } from './schema-keywords.ts';

class Writer implements GrammarRules {
  readonly rules: string[] = [];
  #own: ToolFunction = { name: '' };
  #schemas = 0;

  call(family: ToolFamily, own: ToolFunction): string {
    this.#own = own;
    try {
      return family.grammar.call(own, this);
    } catch (cause) {
      if (cause instanceof OutriderError)
        throw badConstraint(`tools: ${own.name}: ${cause.message}`, cause.hint, { cause });
      throw cause;
    }
  }

  /** What is made, or `otherwise` where it is refused and the function is not strict. */
  #kept<T>(make: () => T, otherwise: T): T {
    try {
      return make();
    } catch (cause) {
      if (this.#own.strict) throw cause;
      return otherwise;
    }
  }

  readonly json = (schema: unknown): string => {
    const id = this.#schemas++;
    const { parameters = schema } = this.#own;
    return this.#kept(
      () => {
        const { root, rules } = schemaRules(schema as JsonSchema, `t${id}`, parameters);
        this.rules.push(`v${id} ::= ${root}`, ...rules);
        return `v${id}`;
      },
      (schema as { readonly type?: unknown } | null)?.type === 'object' ? 'object' : 'value',
    );
  };

  readonly rule = (right: string): string => {
    const name = `r${this.rules.length}`;
    this.rules.push(`${name} ::= ${right}`);
    return name;
  };

  readonly says = (schema: JsonSchema, keywords: readonly string[], path = ''): boolean =>
    this.#kept(() => checkKeywords(schema, keywords, path), false);
}

export interface ToolGrammarOptions {
  readonly family: ToolFamily;
  readonly tools: Tools;
  /** What an answer without a call is, where it is constrained too. The arguments of calls are laid out as it is. */
  readonly answer?: Extract<Constraint, { readonly json_schema: JsonSchema }> | undefined;
}

/** Null: the model may write what it likes. */
export const toolGrammar = ({ family, tools, answer }: ToolGrammarOptions): string | null => {
  const { functions, choice = 'auto', parallel = true } = tools;
  const writer = new Writer();
  const wanted = typeof choice === 'object' ? functions.filter(({ name }) => name === choice.name) : functions;
  const must = choice !== 'auto';
  if (!must && answer === undefined && !functions.some(({ strict }) => strict)) return null;
  const { before, between, after, single, rules: own = [] } = family.grammar;
  const calls = wanted.map((own) => writer.call(family, own));
  const several = parallel && !single;
  const list = (opening: string, first = 'call'): string =>
    `${opening} ${first} ${several ? `(${between} call)*` : ''} ${after}`;
  const grammar = (root: string, ...more: readonly string[]): string =>
    [`root ::= ${root}`, ...more, ...rulesOfJson(answer?.whitespace ?? 'fixed'), ...writer.rules, ...own].join('\n');
  const call = `call ::= ${calls.join(' | ')}`;
  if (must) return grammar(list(before), call);
  if (answer !== undefined) {
    const { root, rules } = schemaRules(answer.json_schema, 'a');
    return grammar(`calls | ${root}`, call, `calls ::= ${list(before)}`, ...rules);
  }
  const marks = family.open;
  if (family.atStart) {
    const opened = `(${marks.map(literal).join(' | ')})? calls`;
    return grammar(`${opened} | free`, call, `calls ::= ${list(before)}`);
  }
  // After calls that no mark closes the parser reads on, so there the answer ends.
  const closed = `${after}${calls}`.includes(family.close[0] ?? '\n');
  // A mark is where the free text ends; its rule is what follows.
  const [mark = ''] = marks;
  const cut = (text: string): string => text.replace(literal(mark).slice(0, -1), '"');
  const rest = (own: string): string => {
    if (before === '') return closed ? 'opened' : list('', 'opened');
    return list(own.endsWith('[') ? '' : cut(before));
  };
  return grammar(
    `TagDispatch(${marks.map((own, i) => `(${literal(own)}, rest${i})`).join(', ')}, loop_after_dispatch=${several && closed})`,
    call,
    ...(before === '' ? [`opened ::= ${calls.map(cut).join(' | ')}`] : []),
    ...marks.map((own, i) => `rest${i} ::= ${rest(own)}`),
  );
};
