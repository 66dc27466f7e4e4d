// Calls of tools as a grammar, in the form of the model's family. Arguments are valid by a function's schema; where the
// schema cannot be kept, a strict function is refused, and others may take any object.
import { OutriderError } from '../base/errors.ts';
import { badConstraint } from '../base/refuse.ts';
import type { GrammarRules, ToolFamily } from '../text/tool-calls/family.ts';
import type { ToolFunction, Tools } from '../text/tool-calls/tools.ts';
import type { JsonSchema } from './constraint.ts';
import { checkKeywords, rulesOfJson, schemaRules } from './json-schema.ts';
import { characterClass, complement, literal } from './literal.ts';

const code = (character: string): number => character.codePointAt(0) as number;

/** Any character but these. */
const not = (...characters: readonly string[]): string =>
  characterClass(complement(characters.map((each) => [code(each), code(each)])));

const anyOf = (characters: string): string =>
  characterClass(Array.from(characters, (each) => [code(each), code(each)]));

/** Characters of a function's name, but for the dot. */
const NAME = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';

/** Joins the parts of a rule; an empty text is no part. */
const sequence = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ') || '""';

class Writer implements GrammarRules {
  readonly rules: string[] = [];
  #own: ToolFunction = { name: '' };
  #schemas = 0;
  readonly #texts = new Map<string, string>();

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

  readonly json = (schema: unknown): string => {
    const name = `v${this.#schemas}`;
    const { strict, parameters = schema } = this.#own;
    try {
      const { root, rules } = schemaRules(schema as JsonSchema, `t${this.#schemas++}`, parameters);
      this.rules.push(`${name} ::= ${root}`, ...rules);
      return name;
    } catch (cause) {
      if (strict) throw cause;
      return (schema as { readonly type?: unknown } | null)?.type === 'object' ? 'object' : 'value';
    }
  };

  readonly rule = (right: string): string => {
    const name = `r${this.rules.length}`;
    this.rules.push(`${name} ::= ${right}`);
    return name;
  };

  readonly text = (marks: readonly string[], end: string): string => {
    const key = [...marks, end].join(' ');
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const name = this.rule(`${not('<')}* (r${this.rules.length}_mark | ${end})`);
    this.#texts.set(key, name);
    const after = marks.map((mark) => mark.slice(1));
    this.rules.push(`${name}_mark ::= "<" ${this.unlike(after, name, end)}`);
    return name;
  };

  /**
   * A text that begins with none of these words, and goes on as the rule `text`, which may end anywhere with `end`.
   * `besides`: characters that it does not begin with either.
   */
  unlike(words: readonly string[], text: string, end: string, besides = ''): string {
    const heads = [...new Set(words.map((word) => word.slice(0, 1)))];
    const longer = heads.flatMap((head) => {
      const rests = words.filter((word) => word.startsWith(head)).map((word) => word.slice(1));
      return rests.includes('') ? [] : [`${literal(head)} ${this.unlike(rests, text, end)}`];
    });
    return `(${[`${text}_mark`, end, `${not('<', ...besides, ...heads)} ${text}`, ...longer].join(' | ')})`;
  }

  /** A text that begins with a character of a name, and with no call such as `f.call(`: that one ends at `.cal`. */
  name(text: string): string {
    const next = (but: string, then: string): string =>
      `(${text}_mark | "" | ${not('<', '.', ...NAME)} ${text} | "." dot | ${anyOf(NAME.replace(but, ''))} name${then})`;
    this.rules.push(
      `name ::= ${next('', '')}`,
      `dot ::= ${next('c', ` | "c" ${next('a', ` | "a" ${next('l', '')}`)}`)}`,
    );
    return `${anyOf(NAME)} name | "." dot`;
  }

  readonly refuse = (what: string): void => {
    if (this.#own.strict) throw badConstraint(what, 'Change it, or leave `strict` out and check the arguments.');
  };

  readonly says = (schema: JsonSchema, keywords: readonly string[], path = ''): boolean => {
    try {
      checkKeywords(schema, keywords, path);
      return true;
    } catch (cause) {
      if (this.#own.strict) throw cause;
      return false;
    }
  };
}

export interface ToolGrammarOptions {
  readonly family: ToolFamily;
  readonly tools: Tools;
  /** What an answer without a call is, where it is constrained too. */
  readonly answer?: JsonSchema | undefined;
}

/** White space, as JavaScript's \s has it. */
const SPACES =
  ' \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

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
  const list = (opening: string, first = 'call'): string =>
    sequence(opening, first, several ? `(${sequence(between, 'call')})*` : '', after);
  const grammar = (root: string, ...more: readonly string[]): string =>
    [`root ::= ${root}`, ...more, ...rulesOfJson('fixed'), ...writer.rules].join('\n');
  const call = `call ::= ${calls.join(' | ')}`;
  if (must) return grammar(list(before), call);
  if (answer !== undefined) {
    const { root, rules: own } = schemaRules(answer, 'a');
    return grammar(`calls | ${root}`, call, `calls ::= ${list(before)}`, ...own);
  }
  const marks = family.open;
  if (family.atStart) {
    // What the parser skips in front of a call, then a text that is none.
    const fences = ['```json', ...Array.from(SPACES, (space) => `\`\`\`${space}`)];
    const skipped = [...Array.from(` \n\t\r,;[]`), '```json', '```\n'].map(literal).join(' | ');
    const text = writer.text(
      marks.map((mark) => mark.slice(0, 3)),
      '""',
    );
    const first = `${writer.unlike(['{', ...fences], text, '""', `${SPACES},;[].${NAME}`)} | ${writer.name(text)}`;
    const opened = `(${marks.map(literal).join(' | ')})? calls`;
    return grammar(`${opened} | (${skipped})* (${first})`, call, `calls ::= ${list(before)}`);
  }
  // After calls that no mark closes the parser reads on, so there the answer ends.
  const closed = family.close.some((mark) => [after, ...calls].some((text) => text.includes(mark)));
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
