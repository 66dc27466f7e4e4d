// XGrammar in WebAssembly (`@mlc-ai/web-xgrammar`), loaded with the first constraint. It compiles a constraint for a
// vocabulary, and follows an answer token by token. It is a script for pages: to load in Node it needs to see a `location`,
// and to start it must not see `process`, because a bundle has none of the modules that it would import there. It reports
// an error by ending with a bare "Aborted()" after it has printed the reason, which is caught here; calls after that work.
import { OutriderError } from '../base/errors.ts';
import { badConstraint } from '../base/refuse.ts';

type Library = typeof import('@mlc-ai/web-xgrammar');

let library: Promise<Library> | null = null;
/** What it printed since the last compilation began. */
let printed = '';
/** Characters of that which are kept: it also prints a line for every special token that a model draws. */
const MOST_PRINTED = 10_000;

const isLibrary = (value: unknown): value is Library =>
  typeof value === 'object' && value !== null && (value as Partial<Library>).TokenizerInfo !== undefined;

/** Calls something that looks at `process` before its first wait. */
const withoutProcess = <T>(call: () => T): T => {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'process');
  if (!own?.configurable) return call();
  Object.defineProperty(globalThis, 'process', { value: undefined, configurable: true });
  try {
    return call();
  } finally {
    Object.defineProperty(globalThis, 'process', own);
  }
};

const start = async (): Promise<Library> => {
  const page = globalThis as { location?: unknown; xgrammar?: unknown };
  const alone = page.location === undefined;
  const { error, log } = console;
  if (alone) page.location = { href: 'file:///' };
  console.error = console.log = (...parts: unknown[]) => {
    printed = `${printed}${parts.join(' ')}\n`.slice(-MOST_PRINTED);
  };
  try {
    // A bundler gives what it exports; loaded as it is, it names itself globally.
    const imported: { readonly default?: unknown } = await import('@mlc-ai/web-xgrammar');
    const found = [imported, imported.default, page.xgrammar].find(isLibrary);
    if (!found)
      throw badConstraint(
        "the widget's single file has no grammar engine, so it cannot keep to a constraint",
        'Install the package and import outrider/widget: it loads the engine with the first constraint.',
      );
    // Its WebAssembly starts with the first call, and keeps this console.
    const info = await withoutProcess(() => found.TokenizerInfo.createTokenizerInfo(['a'], 'raw', false, 1, [0]));
    info.dispose();
    return found;
  } finally {
    Object.assign(console, { error, log });
    if (alone) delete page.location;
  }
};

export const loadXGrammar = (): Promise<Library> => {
  library ??= start().catch((cause) => {
    library = null; // a failed download may be tried again
    throw cause;
  });
  return library;
};

/** Runs a compilation; what the library prints when it gives up becomes the error's text. */
export const compiling = async <T>(work: () => Promise<T>): Promise<T> => {
  printed = '';
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof OutriderError) throw cause; // it was refused before
    // `[FATAL] /path/of/its/build.cc:552: EBNF parser error at line 1: …`
    const reason = printed.match(/\.(?:cc|h):\d+: (?:Check failed: .*? is false: )?(.*)/)?.[1];
    const message = reason ?? (cause instanceof Error ? cause.message : String(cause));
    // Without a reason it did not end by itself: its stack or its memory was too small, and what they hold may be wrong.
    if (!reason && (cause instanceof RangeError || cause instanceof WebAssembly.RuntimeError))
      throw badConstraint(
        `the constraint is too large for the grammar engine, or the engine was lost to one before: ${message}`,
        'Make the constraint smaller. If others fail too, reload the page, or start the process again.',
        { cause },
      );
    throw badConstraint(`the constraint cannot be compiled: ${message.trim().slice(0, 400)}`, '', { cause });
  }
};
