// The content security policy of the built pages: scripts and workers are the page's own, and nothing runs inline but the
// examples of the widget page. Models and servers may be anywhere, because people name them.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const USES = join(import.meta.dirname, '../demo/widget/uses');

/** The widget page shows its examples as source and runs them: their inline scripts are allowed by their hashes. */
const examples = readdirSync(USES).flatMap((name) =>
  [...readFileSync(join(USES, name), 'utf8').matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  ),
);

export const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval' ${examples.join(' ')}`, // the ONNX runtime compiles WebAssembly
  "worker-src 'self' blob:", // the benchmark starts a worker for every run
  "connect-src 'self' https: http: data: blob:",
  "style-src 'self' 'unsafe-inline'", // Chart.js and the widget set style attributes
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Puts the policy into every built page. @returns {import('vite').Plugin} */
export const contentSecurityPolicy = () => ({
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY }, injectTo: 'head-prepend' },
  ],
});
