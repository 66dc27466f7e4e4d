// A Jinja template as it was read (parser.ts); render.ts carries it out.
import type { Float } from './numbers.ts';

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** `*list` and `**dict`. */
  readonly spread: Expression | null;
  readonly namedSpread: Expression | null;
}

/** A filter or a test with its arguments. */
export interface Applied {
  readonly name: string;
  readonly args: Arguments;
}

export interface Call {
  readonly type: 'call';
  readonly callee: Expression;
  readonly args: Arguments;
}

export interface Slice {
  readonly type: 'slice';
  readonly start: Expression | null;
  readonly stop: Expression | null;
  readonly step: Expression | null;
}

export type Expression =
  | Call
  | { readonly type: 'constant'; readonly value: null | boolean | number | string | Float }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'list' | 'tuple'; readonly items: readonly Expression[] }
  | { readonly type: 'dict'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly type: 'attribute'; readonly object: Expression; readonly name: string }
  | { readonly type: 'item'; readonly object: Expression; readonly key: Expression | Slice }
  | { readonly type: 'filter'; readonly operand: Expression; readonly filter: Applied }
  | { readonly type: 'test'; readonly operand: Expression; readonly test: Applied }
  | { readonly type: 'not'; readonly operand: Expression }
  | { readonly type: 'sign'; readonly sign: '+' | '-'; readonly operand: Expression }
  | { readonly type: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'arithmetic'; readonly sign: string; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'concatenation'; readonly parts: readonly Expression[] }
  /** `1 < x <= 3` */
  | {
      readonly type: 'comparison';
      readonly first: Expression;
      readonly rest: readonly (readonly [string, Expression])[];
    }
  | {
      readonly type: 'choice';
      readonly test: Expression;
      readonly value: Expression;
      readonly otherwise: Expression | null;
    };

/** What a value is assigned to. */
export type Target =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'attribute'; readonly object: string; readonly name: string }
  | { readonly type: 'tuple'; readonly targets: readonly Target[] };

/** A parameter of a macro; without a value to fall back on, null. */
export type Parameter = readonly [name: string, otherwise: Expression | null];

export type Body = readonly Statement[];

export interface Loop {
  readonly type: 'for';
  readonly target: Target;
  readonly iterable: Expression;
  readonly test: Expression | null;
  readonly recursive: boolean;
  readonly body: Body;
  readonly otherwise: Body;
}

export type Statement =
  | Loop
  | { readonly type: 'data'; readonly text: string }
  | { readonly type: 'print'; readonly value: Expression }
  | { readonly type: 'set'; readonly target: Target; readonly value: Expression }
  /** `{% set x | filter %}…{% endset %}` */
  | { readonly type: 'capture'; readonly target: Target; readonly filters: readonly Applied[]; readonly body: Body }
  | { readonly type: 'if'; readonly branches: readonly (readonly [Expression, Body])[]; readonly otherwise: Body }
  | { readonly type: 'with'; readonly names: readonly (readonly [Target, Expression])[]; readonly body: Body }
  | { readonly type: 'macro'; readonly name: string; readonly parameters: readonly Parameter[]; readonly body: Body }
  | { readonly type: 'call-block'; readonly call: Call; readonly parameters: readonly Parameter[]; readonly body: Body }
  | { readonly type: 'filter-block'; readonly filters: readonly Applied[]; readonly body: Body }
  | { readonly type: 'break' | 'continue' };
