// Holds the project's texts to its rules for writing: retired words, one glossary entry a word, the shape of documents,
// links and paths that exist, examples that parse, and figures of decoding systems that come from generated tables. Each
// rule is a function from a text to a list of complaints, so that prose.test.ts can show it failing.
//   node .ci/prose.mjs
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { anchors } from './anchors.mjs';
import { root } from './steps.mjs';
import { staleTables } from './tables.mjs';
import { KEEPS_OLD_NAMES, NAMES, WORDS } from './words.mjs';

/** A document has at most so many lines, each of at most so many characters. */
export const MOST = { lines: 150, characters: 120 };

/** The log is as long as its experiments are many, and names files by what they were called then. */
const isLog = (/** @type {string} */ path) => /^docs\/log(\.md$|\/)/.test(path);

/** @typedef {{ number: number, text: string, code: boolean, table: boolean, generated: boolean }} Line */

/**
 * The lines of a Markdown text: whether each is in a code block, a row of a table, or between `<!-- table -->` marks.
 * @param {string} text
 * @returns {Line[]}
 */
export const linesOf = (text) => {
  let [code, generated] = [false, false];
  return text.split('\n').map((text, i) => {
    const fence = /^\s*(```|~~~)/.test(text);
    if (!code && text.startsWith('<!-- table: ')) generated = true;
    const line = { number: i + 1, text, code: code || fence, table: /^\s*\|/.test(text), generated };
    if (fence) code = !code;
    if (!code && text.startsWith('<!-- /table -->')) generated = false;
    return line;
  });
};

/** The names that a source declares or uses. @param {string} path @param {string} text */
const namesIn = (path, text) => {
  if (path.endsWith('.wgsl')) return [...text.replace(/\/\/.*/g, '').matchAll(/[A-Za-z_]\w*/g)].map(([name]) => name);
  if (!/\.m?ts$|\.mjs$/.test(path)) return [];
  /** @type {string[]} */
  const names = [];
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return names;
};

/** `gaugeOf` → `gauge of` @param {string} name */
const wordsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[#_$-]+/g, ' ')
    .trim()
    .toLowerCase();

/** @param {import('./words.mjs').Retired} retired @param {string} path @param {string} text */
const uses = ({ word, only, except }, path, text) =>
  (only?.test(path) ?? true) && word.test(except ? text.replace(new RegExp(except, 'gi'), '') : text);

/** @param {string} path @param {string} text @returns {string[]} */
export const retiredWords = (path, text) => {
  if (KEEPS_OLD_NAMES.test(path)) return [];
  const inLines = text.split('\n').flatMap((whole, i) =>
    WORDS.flatMap((retired) => {
      const line = isLog(path) ? whole.replace(/`[^`]*`/g, '') : whole;
      if (!uses(retired, path, line)) return [];
      return [`${path}:${i + 1}: retired: “${retired.word.exec(line)?.[0]}”; say: ${retired.say}`];
    }),
  );
  const inNames = [...new Set(namesIn(path, text))].flatMap((name) =>
    NAMES.flatMap((retired) =>
      uses(retired, path, wordsOf(name)) ? [`${path}: retired name: ${name}; say: ${retired.say}`] : [],
    ),
  );
  return [...inLines, ...inNames];
};

/** Words that have two rows in the glossary's table. @param {string} text */
export const doubleEntries = (text) => {
  const words = [...text.matchAll(/^\| \*\*(.+?)\*\*/gm)].map(([, word = '']) => word.toLowerCase());
  return words
    .filter((word, i) => words.indexOf(word) < i)
    .map((word) => `GLOSSARY.md: “${word}” has more than one entry`);
};

/** Too many lines, or lines too long; code, tables and what must not be broken (addresses, links) apart. @param {string} path @param {string} text */
export const documentShape = (path, text) => {
  const lines = linesOf(text);
  const long = lines.filter(({ text, code, table }) => {
    if (code || table) return false;
    return text.replace(/\]\([^)]*\)|https?:\S+|<[^>]*>/g, '').length > MOST.characters;
  });
  const count = text.trimEnd().split('\n').length;
  return [
    ...long.map(({ number, text }) => `${path}:${number}: ${text.length} characters, at most ${MOST.characters}`),
    ...(count > MOST.lines && !isLog(path) ? [`${path}: ${count} lines, at most ${MOST.lines}`] : []),
  ];
};

/** The anchors of a page, as GitHub makes them from headings. @param {string} text @returns {Set<string>} */
export const anchorsOf = (text) => {
  const headings = linesOf(text).flatMap(({ text, code }) => (code ? [] : (/^#+ (.*)/.exec(text)?.[1] ?? [])));
  return new Set([
    ...headings.map(anchors()),
    ...[...text.matchAll(/\b(?:id|name)="([^"]+)"/g)].map(([, id = '']) => id),
  ]);
};

/** Placeholders and patterns are no paths. */
const PATH = /`((?:src|shaders|demo|e2e|docs|public|training|\.ci)\/[^`\s]*)`/g;
const PLACEHOLDER = /[*{}<>…]|NAME|FAMILY|FOLDER/;

/**
 * Relative links to what does not exist, and paths in backticks that do not.
 * @param {string} path
 * @param {string} text
 * @param {(path: string) => string | null} read The text of a file (`''` of a folder), null where there is none.
 */
export const deadLinks = (path, text, read) =>
  linesOf(text).flatMap(({ number, text: line, code }) => {
    if (code) return [];
    const prose = line.replace(/`[^`]*`/g, '');
    const links = [
      ...[...prose.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(([, link = '']) => link),
      ...[...prose.matchAll(/\b(?:src|srcset|href)="([^"\s]+)"/g)].map(([, link = '']) => link),
    ].filter((link) => !/^(https?|mailto):/.test(link));
    const dead = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const page = file === '' ? text : read(normalize(join(dirname(path), file)));
      return page === null || (anchor !== undefined && !anchorsOf(page).has(anchor));
    });
    const paths = isLog(path) ? [] : [...line.matchAll(PATH)].map(([, name = '']) => name);
    const missing = paths.filter((name) => !PLACEHOLDER.test(name) && read(name.replace(/[:#].*$/, '')) === null);
    return [
      ...dead.map((link) => `${path}:${number}: dead link: ${link}`),
      ...missing.map((name) => `${path}:${number}: no such path: ${name}`),
    ];
  });

/** Examples in JavaScript or TypeScript that do not parse; those with an ellipsis are to be completed. @param {string} path @param {string} text */
export const brokenExamples = (path, text) =>
  [...text.matchAll(/^```(js|jsx|ts|tsx)\n([\s\S]*?)^```$/gm)].flatMap(([, kind = '', code = ''], i) => {
    if (code.includes('…')) return [];
    const options = {
      fileName: `example.${kind}`,
      reportDiagnostics: true,
      compilerOptions: { jsx: ts.JsxEmit.Preserve },
    };
    const { diagnostics = [] } = ts.transpileModule(code, options);
    const [first] = diagnostics;
    return first
      ? [`${path}: example ${i + 1} does not parse: ${ts.flattenDiagnosticMessageText(first.messageText, ' ')}`]
      : [];
  });

/** How figures of a system look: a share, a factor, a rate, an acceptance length. Versions and sizes in bytes are none. */
const FIGURES = [
  /\d\s?%/,
  /\d\s?×|×\s?\d/,
  /\b\d[\d.]* (tokens?(\/s| a second| a round)|times as (fast|many))/,
  /(?<!(ERNIE|Node|Chrome|Safari|Firefox|Edge|Vue|React|Mesa|vitest|transformers\.js|SDK|version) )(?<![\w.])\d?\.\d+\b(?!\.\d|\s?(kB|MB|GB|MiB|M\b))/,
];

/** Figures that stand outside generated tables, code and links. @param {string} path @param {string} text */
export const figuresOutsideTables = (path, text) =>
  linesOf(text).flatMap(({ number, text, code, generated }) => {
    if (code || generated) return [];
    const prose = text.replace(/`[^`]*`|\[[^\]]*\]\([^)]*\)|https?:\S+/g, '');
    const figure = FIGURES.map((pattern) => pattern.exec(prose)?.[0]).find((found) => found !== undefined);
    return figure === undefined ? [] : [`${path}:${number}: “${figure}” stands outside a generated table`];
  });

/** Where figures have to come from docs/results. */
const HAS_FIGURES = /^(README\.md|docs\/guide\/.*\.md)$/;

/** All files that git knows or would add. */
const projectFiles = () =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)));

const WRITTEN =
  /^(src|shaders|demo|e2e|docs|training|public\/(models|peers))\/.*\.(ts|mjs|wgsl|html|css|md)$|^[A-Z]+\.md$/;

/** All complaints about the project. */
export const complaints = async () => {
  const files = projectFiles();
  const folders = new Set(files.flatMap((path) => path.split('/').map((_, i, parts) => parts.slice(0, i).join('/'))));
  const known = new Set(files);
  const read = (/** @type {string} */ path) => {
    if (known.has(path)) return path.endsWith('.md') ? readFileSync(join(root, path), 'utf8') : '';
    return folders.has(path.replace(/\/$/, '')) ? '' : null;
  };
  const written = files.filter((path) => WRITTEN.test(path));
  const found = written.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    if (!path.endsWith('.md')) return retiredWords(path, text);
    return [
      ...retiredWords(path, text),
      ...documentShape(path, text),
      ...deadLinks(path, text, read),
      ...brokenExamples(path, text),
      ...(path === 'GLOSSARY.md' ? doubleEntries(text) : []),
      ...(HAS_FIGURES.test(path) ? figuresOutsideTables(path, text) : []),
    ];
  });
  return [...found, ...(await staleTables())];
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = await complaints();
  for (const each of found) console.log(each);
  process.exitCode = found.length > 0 ? 1 : 0;
}
