// OpenAI's tools, calls and response formats.

/** A function that the model may call. */
export interface ChatTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Readonly<Record<string, unknown>>;
    /** Arguments are always valid by the schema, or the request is refused. */
    readonly strict?: boolean | null;
  };
}

/** Whether the model calls functions, and which. */
export type ToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { readonly type: 'function'; readonly function: { readonly name: string } };

/** A call that an answer made. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: 'function';
  /** `arguments` is JSON. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A call as it is streamed: first its id and name, then pieces of its arguments. */
export interface ChatToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: 'function';
  readonly function: { readonly name?: string; readonly arguments: string };
}

/** The form of the answer's text. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly json_schema: {
        readonly name: string;
        readonly schema?: Readonly<Record<string, unknown>>;
        readonly description?: string;
        /** The schema is kept either way; one that cannot be kept is refused. */
        readonly strict?: boolean | null;
      };
    };
