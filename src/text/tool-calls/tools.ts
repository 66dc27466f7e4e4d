// Functions that a model may call, and how it is asked to.

/** A function as OpenAI describes it. */
export interface ToolFunction {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema of the arguments. Default: an object without properties. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Arguments are always valid by the schema. */
  readonly strict?: boolean;
}

/** Functions for a conversation. */
export interface Tools {
  readonly functions: readonly ToolFunction[];
  /** `auto` (the default): the model decides. `required`: at least one call. A name: calls of this function only. */
  readonly choice?: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Several calls in one answer. Default true. */
  readonly parallel?: boolean;
}

/** OpenAI's form, which chat templates are written for. */
export const asTemplateTools = (functions: readonly ToolFunction[]): readonly unknown[] =>
  functions.map((own) => ({
    type: 'function',
    function: {
      name: own.name,
      description: own.description ?? '',
      parameters: own.parameters ?? { type: 'object', properties: {} },
    },
  }));
