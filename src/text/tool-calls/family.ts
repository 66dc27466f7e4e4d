// How a family of models writes calls. The marks around them and the reader of one call serve the parser (call-parser.ts);
// `grammar` has the same form as EBNF, for calls that are constrained (constraint/tool-grammar.ts).
import type { JsonSchema } from '../../constraint/constraint.ts';
import type { ToolFunction } from './tools.ts';

/** A call as far as it is written. */
export interface PartialCall {
  /** Null until it is known. */
  readonly name: string | null;
  readonly id?: string;
  /** JSON. It only grows. */
  readonly arguments: string;
  /** Characters of the text that the call takes; null while it goes on. */
  readonly used: number | null;
}

/** Rules of values, for a family's grammar. */
export interface GrammarRules {
  /** The name of a rule for the JSON that a schema of the function's parameters allows. */
  readonly json: (schema: unknown) => string;
  /** Makes a rule; its name. */
  readonly rule: (right: string) => string;
  /** Whether a schema says no more than these keywords. Where it does, a strict function is refused. */
  readonly says: (schema: JsonSchema, keywords: readonly string[], path?: string) => boolean;
}

export interface ToolFamily {
  readonly id: string;
  /** Whether a chat template is written for models of this family. */
  knows(template: string): boolean;
  /** They open a list of calls, anywhere in an answer; `atStart`: a call may stand at the start without one. */
  readonly open: readonly string[];
  readonly atStart?: boolean;
  /** They end what `open` has opened. */
  readonly close: readonly string[];
  /**
   * The call at the start of this text. Null: there is none, and no more text would change that. `before`: the marks in
   * front of it.
   */
  read(text: string, functions: readonly ToolFunction[], ended: boolean, before: string): PartialCall | null;
  /** EBNF: `list` is the calls, with `between` in between. */
  readonly grammar: {
    readonly before: string;
    readonly between: string;
    readonly after: string;
    /** Models of the family write one call an answer. */
    readonly single?: boolean;
    call(own: ToolFunction, rules: GrammarRules): string;
    /** Rules that `call` uses. With `atStart`, `free` is an answer without a call. */
    readonly rules?: readonly string[];
  };
  /** Ids of calls must be nine letters and digits. */
  readonly shortIds?: boolean;
}

/** Nothing can be said yet. */
export const WAIT: PartialCall = { name: null, arguments: '', used: null };
