// Puts the API reference (`npm run docs`) next to the demo's pages and links to it, when it has been made.
import { cpSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './steps.mjs';

/** @returns {import('vite').Plugin} */
export const apiReference = () => {
  const made = join(root, 'dist/api');
  let out = '';
  return {
    name: 'api-reference',
    apply: 'build',
    configResolved({ root: pages, build }) {
      out = join(resolve(pages, build.outDir), 'api');
    },
    transformIndexHtml: (html) =>
      existsSync(made) ? html.replace('</footer>', '<p><a href="./api/">API reference</a></p></footer>') : html,
    closeBundle() {
      if (existsSync(made)) cpSync(made, out, { recursive: true });
    },
  };
};
