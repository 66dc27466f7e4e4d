// The header that all pages share: `<page-header tagline="…">buttons of this page</page-header>` becomes the text of
// demo/shared/header.html with the tagline, the links to all pages, and these buttons in it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TEXT = readFileSync(join(import.meta.dirname, '../demo/shared/header.html'), 'utf8');

/** The button that public/theme.js answers. */
export const THEME_BUTTON = /<button id="theme".*?<\/button>/s.exec(TEXT)?.[0] ?? '';

/** Paths from the folder of the pages, and names. */
export const PAGE_LINKS = /** @type {const} */ ([
  ['index.html', 'Demo'],
  ['how.html', 'How it works'],
  ['benchmark.html', 'Benchmark'],
  ['widget.html', 'Widget'],
  ['repository/docs/guide/getting-started.html', 'Guide'],
]);

/** Links to all pages, `up` before each path. @param {string} up @param {string} current Path of this page. */
export const pageLinks = (up, current) =>
  PAGE_LINKS.map(([path, name]) => {
    const here = path === current ? ' aria-current="page"' : '';
    return `<a href="${up}${path.replace(/^index\.html$/, '')}"${here}>${name}</a>`;
  }).join('\n');

/** @returns {import('vite').Plugin} */
export const pageHeader = () => ({
  name: 'page-header',
  transformIndexHtml: {
    order: 'pre',
    handler: (html, { path }) =>
      html.replace(/<page-header tagline="([^"]*)">(.*?)<\/page-header>/s, (_, tagline, buttons) =>
        TEXT.replace('class="tagline">', () => `class="tagline">${tagline}`)
          .replace('aria-label="Pages">', () => `aria-label="Pages">\n${pageLinks('./', path.replace(/^\//, ''))}\n`)
          .replace('<slot></slot>', () => buttons.trim()),
      ),
  },
});
