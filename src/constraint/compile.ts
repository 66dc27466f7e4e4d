// Compiles constraints, and keeps the compiled ones: an application asks for the same schema again and again.
import type { CompiledGrammar, GrammarCompiler, TokenizerInfo } from '@mlc-ai/web-xgrammar';
import { badConstraint } from '../base/refuse.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import type { Constraint } from './constraint.ts';
import { checkSize } from './grammar-size.ts';
import { schemaGrammar } from './json-schema.ts';
import { literal } from './literal.ts';
import { bytesOf, type Marks } from './marks.ts';
import type { Compiled } from './matcher.ts';
import { patternGrammar } from './pattern.ts';
import { safeAlternatives, twoDigits } from './safe-alternatives.ts';
import { compiling, loadXGrammar } from './xgrammar.ts';

/** Compiled constraints that are kept, for each vocabulary. */
const MOST_KEPT = 32;

interface Vocabulary {
  readonly tokenizer: Tokenizer;
  readonly marks: Marks;
  readonly vocabulary: number;
  readonly stopTokens: ReadonlySet<number>;
}

interface Compiler {
  readonly info: TokenizerInfo;
  readonly compiler: GrammarCompiler;
  /** By the constraint's JSON, in the order of their last use. */
  readonly kept: Map<string, Compiled>;
}

export class ConstraintCompiler {
  readonly #compilers = new Map<string, Promise<Compiler>>();
  #tokenizer: Tokenizer | null = null;

  /** `cached`: it was compiled before. Throws `bad-constraint`. */
  async compile(constraint: Constraint, reader: Vocabulary): Promise<{ compiled: Compiled; cached: boolean }> {
    const { compiler, kept } = await this.#compilerOf(reader);
    const key = JSON.stringify(constraint);
    const known = kept.get(key);
    kept.delete(key);
    const compiled = known ?? {
      ...reader,
      end: reader.vocabulary,
      grammar: await compiling(() => compile(compiler, constraint)),
    };
    kept.set(key, compiled);
    for (const [oldest, { grammar }] of [...kept].slice(0, -MOST_KEPT)) {
      kept.delete(oldest);
      grammar.dispose();
    }
    return { compiled, cached: known !== undefined };
  }

  /** Frees what was compiled: WebAssembly's memory is not collected. */
  [Symbol.dispose](): void {
    for (const made of this.#compilers.values()) made.then(free, () => {}); // one that failed has nothing to free
    this.#compilers.clear();
    this.#tokenizer = null;
  }

  #compilerOf(reader: Vocabulary): Promise<Compiler> {
    // Another model has another vocabulary; that of the one before is not needed again.
    if (this.#tokenizer !== reader.tokenizer) this[Symbol.dispose]();
    this.#tokenizer = reader.tokenizer;
    const key = `${reader.vocabulary} ${[...reader.stopTokens].join()} ${[...reader.marks.values()].join()}`;
    const known = this.#compilers.get(key) ?? makeCompiler(reader);
    this.#compilers.set(key, known);
    known.catch(() => this.#compilers.delete(key));
    return known;
  }
}

const free = ({ info, compiler, kept }: Compiler): void => {
  for (const { grammar } of kept.values()) grammar.dispose();
  compiler.dispose();
  info.dispose();
};

const makeCompiler = async ({ tokenizer, marks, vocabulary, stopTokens }: Vocabulary): Promise<Compiler> => {
  const { GrammarCompiler, TokenizerInfo } = await loadXGrammar();
  // As bytes, because a token may hold a part of a character. One more token stands for the end of the answer.
  const entries = Array.from({ length: vocabulary + 1 }, (_, id) =>
    bytesOf(tokenizer, marks, id),
  ) as unknown as string[];
  const stops = [...stopTokens, vocabulary];
  const info = await TokenizerInfo.createTokenizerInfo(entries, 'raw', false, vocabulary + 1, stops);
  return { info, compiler: await GrammarCompiler.createGrammarCompiler(info, false), kept: new Map() };
};

const compile = async (compiler: GrammarCompiler, constraint: Constraint): Promise<CompiledGrammar> => {
  const { Grammar } = await loadXGrammar();
  const grammar = await Grammar.fromEBNF(checkSize(grammarOf(constraint)));
  const printed = grammar.toString();
  grammar.dispose();
  return compiler.compileGrammar(safeAlternatives(printed));
};

/** One that is not closed ends with the grammar: each character is read once. */
const TEXTS = /"(?:[^"\\\n]|\\.)*"?|\[(?:[^\]\\]|\\.)*\]?|#.*/g;
const NUL = /(?<!\\)(?:\\\\)*\\(?:0|u0000|U00000000)/;

/** XGrammar leaves U+0000 out of a text, and so would allow the text without it. */
const readableGrammar = (grammar: string): string => {
  const read = twoDigits(grammar);
  const wrong = read.match(TEXTS)?.find((text) => (text[0] === '"' || /^\[\\\w+\]$/.test(text)) && NUL.test(text));
  if (wrong !== undefined) throw badConstraint(`grammar: ${wrong} asks for U+0000, which no answer can have`);
  return read;
};

const grammarOf = (constraint: Constraint): string => {
  if ('json_schema' in constraint) return schemaGrammar(constraint.json_schema, constraint.whitespace);
  if ('regex' in constraint) {
    const refuse = (what: string, hint?: string): Error => badConstraint(`regex: ${what}`, hint);
    const rules: string[] = [];
    const named = (right: string): string => `r${rules.push(`r${rules.length} ::= ${right}`) - 1}`;
    const root = patternGrammar(constraint.regex, { json: false, refuse, named });
    return [`root ::= ${root}`, ...rules].join('\n');
  }
  if ('choice' in constraint) return `root ::= ${constraint.choice.map(literal).join(' | ')}`;
  return readableGrammar(constraint.grammar);
};
