// XGrammar in WebAssembly (`@mlc-ai/web-xgrammar`), loaded with the first constraint. It compiles a constraint for a
// vocabulary, and follows an answer token by token. Two things about it are unusual. It is a script for pages: in Node it
// needs to see a `location` while it starts. And it reports an error by ending its WebAssembly with a bare "Aborted()" after
// it has printed the reason, which is caught here; calls after that still work.
import { badConstraint } from '../base/refuse.ts';

type Library = typeof import('@mlc-ai/web-xgrammar');

let library: Promise<Library> | null = null;
/** What it printed since the last compilation began. */
let printed = '';

const isLibrary = (value: unknown): value is Library =>
  typeof value === 'object' && value !== null && 'TokenizerInfo' in value;

const start = async (): Promise<Library> => {
  const page = globalThis as { location?: unknown; xgrammar?: unknown };
  const alone = page.location === undefined;
  const { error } = console;
  if (alone) page.location = { href: 'file:///' };
  console.error = (...parts: unknown[]) => {
    printed += `${parts.join(' ')}\n`;
  };
  try {
    // A bundler gives what it exports; loaded as it is, it names itself globally.
    const imported: { readonly default?: unknown } = await import('@mlc-ai/web-xgrammar');
    const found = [imported, imported.default, page.xgrammar].find(isLibrary);
    if (!found) throw new Error('@mlc-ai/web-xgrammar exports nothing that is known here');
    // Its WebAssembly starts with the first call, and keeps this console.
    const info = await found.TokenizerInfo.createTokenizerInfo(['a'], 'raw', false, 1, [0]);
    info.dispose();
    return found;
  } finally {
    console.error = error;
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
    // `[FATAL] /path/of/its/build.cc:552: EBNF parser error at line 1: …`
    const reason = printed.match(/\.(?:cc|h):\d+: (?:Check failed: .*? is false: )?(.*)/)?.[1];
    const message = reason ?? (cause instanceof Error ? cause.message : String(cause));
    throw badConstraint(`the constraint cannot be compiled: ${message.trim().slice(0, 400)}`, '', { cause });
  }
};
