// The project's documents as pages of the demo, at their paths below `repository/`: the README, the guide, and what they
// link to, results too. Links to other files become plain text, because the demo does not contain them.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { Marked } from 'marked';
import { anchors } from './anchors.mjs';
import { POLICY } from './content-security-policy.mjs';
import { pageLinks, THEME_BUTTON } from './page-header.mjs';
import { root } from './steps.mjs';

/** @param {string} folder @returns {string[]} */
const documentsIn = (folder) =>
  readdirSync(join(root, folder), { recursive: folder !== '', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')));

/** Files that are copied where a document links to them: pictures and results. */
const COPIED = /\.(png|svg|jsonl?)$/;

/** @param {string} link @param {string} path @param {ReadonlySet<string>} documents Null where the demo has no such page. */
const target = (link, path, documents) => {
  if (/^(https?:|mailto:|#)/.test(link)) return link;
  const [file = '', anchor] = link.split('#');
  const found = posix.normalize(posix.join(posix.dirname(path), file));
  if (documents.has(`${found}/README.md`)) return `${file}/README.html`;
  if (COPIED.test(found)) return file;
  if (!documents.has(found)) return null;
  return file.replace(/\.md$/, '.html') + (anchor === undefined ? '' : `#${anchor}`);
};

/** @param {string} path @param {string} text @param {ReadonlySet<string>} documents */
const bodyOf = (path, text, documents) => {
  const anchor = anchors();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${anchor(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const to = target(href, path, documents);
        return to === null ? text : `<a href="${to}">${text}</a>`;
      },
      // Wide tables and code scroll by themselves, by keyboard too.
      table(token) {
        const row = (/** @type {typeof token.header} */ cells) =>
          `<tr>${cells.map((cell) => this.tablecell(cell)).join('')}</tr>`;
        const body = token.rows.map(row).join('\n');
        return `<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead>${row(token.header)}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      code({ text: code }) {
        const escaped = code.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
        return `<pre tabindex="0"><code>${escaped}</code></pre>\n`;
      },
    },
  });
  return marked.parse(text, { async: false });
};

/** @param {string} path */
const titleOf = (path) => /^# (.*)/m.exec(readFileSync(join(root, path), 'utf8'))?.[1] ?? path;

/** The pages of the guide in reading order. */
const GUIDE = {
  Start: ['getting-started', 'own-models', 'troubleshooting'],
  Use: ['systems', 'comparing', 'constraints', 'tools', 'parameters', 'widget', 'teaching'],
  Reference: ['interfaces', 'output', 'widget-reference'],
};

/** Links to all pages of the guide, from one of them. @param {string} path */
const guide = (path) => {
  const listed = Object.values(GUIDE).flat();
  const missing = documentsIn('docs/guide').filter((each) => !listed.includes(posix.basename(each, '.md')));
  if (missing.length > 0) throw new Error(`no group of the guide has ${missing.join(', ')}`);
  const link = (/** @type {string} */ name) => {
    const current = path === `docs/guide/${name}.md` ? ' aria-current="page"' : '';
    return `<a href="${name}.html"${current}>${titleOf(`docs/guide/${name}.md`)}</a>`;
  };
  const groups = Object.entries(GUIDE).map(
    ([title, names]) => `<b>${title}</b>\n<span>${names.map(link).join('\n')}</span>`,
  );
  return `<nav class="guide" aria-label="Guide">\n${groups.map((each) => `<div>${each}</div>`).join('\n')}\n</nav>`;
};

/** @param {string} path @param {string} body @param {string} title */
const page = (path, body, title) => {
  const up = '../'.repeat(path.split('/').length);
  const here = `repository/${path.replace(/md$/, 'html')}`;
  const repository = 'repository/README.html';
  return `<!doctype html>
<html lang="en">
<head>
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${up}repository/logo.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}repository/document.css">
<script src="${up}theme.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><nav aria-label="Pages">
<a class="brand" href="${up}"><img src="${up}repository/logo.svg" alt="" width="28" height="28">Outrider</a>
${pageLinks(up, here)}
<a href="${up}${repository}"${here === repository ? ' aria-current="page"' : ''}>Repository</a>
${THEME_BUTTON}
</nav>${path.startsWith('docs/guide/') ? guide(path) : ''}</header>
<main id="content" tabindex="-1">
${body}</main>
</body>
</html>
`;
};

/** Writes the pages into a folder. @param {string} out */
export const writeDocuments = (out) => {
  const documents = new Set([...documentsIn(''), ...documentsIn('docs'), 'training/README.md']);
  const copied = new Set();
  for (const path of documents) {
    const text = readFileSync(join(root, path), 'utf8');
    const body = bodyOf(path, text, documents);
    const file = join(out, path.replace(/md$/, 'html'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page(path, body, titleOf(path)));
    for (const [, link = ''] of body.matchAll(/\b(?:src|srcset|href)="([^":]+)"/g))
      if (COPIED.test(link)) copied.add(join(dirname(path), link));
  }
  for (const file of copied) {
    mkdirSync(dirname(join(out, file)), { recursive: true });
    copyFileSync(join(root, file), join(out, file));
  }
  const styles = ['colours', 'every-page', 'document'].map((name) =>
    readFileSync(join(root, `demo/shared/${name}.css`), 'utf8'),
  );
  writeFileSync(join(out, 'document.css'), styles.join('\n'));
  copyFileSync(join(root, 'demo/shared/logo.svg'), join(out, 'logo.svg'));
};

/** @returns {import('vite').Plugin} */
export const documents = () => {
  let out = '';
  return {
    name: 'documents',
    apply: 'build',
    configResolved({ root: pages, build }) {
      out = join(resolve(pages, build.outDir), 'repository');
    },
    closeBundle() {
      writeDocuments(out);
    },
  };
};
