// The widget as its users get it: the examples of docs/guide/widget.md as they stand, each in a fresh project with the
// packed package, in a real browser.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, type Locator, type Page, test } from '@playwright/test';
import vue from '@vitejs/plugin-vue';
import { build } from 'vite';
import { freshProject, packed } from './fresh-project.ts';
import { root, WatchedServer } from './server.ts';

let outrider = '';
test.beforeAll(async () => {
  outrider = await packed();
});

const guide = readFileSync(join(root, 'docs/guide/widget.md'), 'utf8');
const example = (language: string): string => {
  const [found, ...others] = [...guide.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))];
  expect(others).toHaveLength(0);
  return found?.[1] ?? '';
};

const MODELS = ['target', 'dflash'];
const QUESTION = 'Ida has 54 stones. Ida finds 30 more stones. How many stones does Ida have now?';

/** Sends by keyboard in this part of the page, and waits for the answer. */
const asks = async (page: Page, part: Locator, question: string | null): Promise<void> => {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  const box = part.getByRole('textbox', { name: 'Message' });
  if (question) await box.fill(question);
  await box.press('Enter');
  await expect(part.getByRole('log')).toContainText('The answer is 84.');
  await expect(part.getByRole('button', { name: 'Send' })).toBeVisible();
  expect(errors).toEqual([]);
};

test('plain HTML: one file and the models, copied as the guide says', async ({ page }) => {
  const folder = freshProject(outrider, { html: example('html'), files: {}, models: MODELS });
  const commands = [...example('sh').matchAll(/^cp (?:-r )?node_modules\/outrider\/(\S+) \./gm)].map(
    ([, path]) => path ?? '',
  );
  expect(commands).toHaveLength(2);
  for (const path of commands)
    cpSync(join(outrider, path), join(folder, path.split('/').at(-1) ?? ''), { recursive: true });
  await using server = new WatchedServer(folder);
  const address = await server.listen();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url().replace(address, '')));
  await page.goto(address);
  await asks(page, page.locator('body'), null);
  expect(asked.filter((url) => !/^$|^outrider-chat\.js$|^models\/(target|dflash)\//.test(url))).toEqual([]);
});

/** Gzipped, with all that they import statically. */
const kilobytes = (file: string, seen = new Set<string>()): number => {
  if (seen.has(file)) return 0;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const imports = [...text.matchAll(/(?:\bfrom|\bimport)\s*"(\.{1,2}\/[^"]+\.js)"/g)].map(([, path = '']) => path);
  return gzipSync(text).length / 1000 + imports.reduce((sum, path) => sum + kilobytes(join(file, '..', path), seen), 0);
};

test('the sizes that the guide states are those of the files', () => {
  const said = [...guide.matchAll(/(\d+) kB gzipped/g)].map(([, size]) => Number(size));
  const sizes = ['outrider-chat.js', 'widget.js'].map((name) => kilobytes(join(outrider, 'dist/library', name)));
  expect(said).toHaveLength(sizes.length);
  for (const [i, size] of sizes.entries()) expect(Math.abs((said[i] ?? 0) / size - 1)).toBeLessThan(0.05);
});

test('React 19 and Vue 3.5, on one page and so with one engine', async ({ page }) => {
  const main = `
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { createApp } from 'vue';
import { Tutor as InReact } from './in-react.jsx';
import InVue from './InVue.vue';
createRoot(document.getElementById('react')).render(createElement(InReact));
createApp(InVue).mount('#vue');
`;
  const folder = freshProject(outrider, {
    html: '<!doctype html><body><div id="react"></div><div id="vue"></div><script type="module" src="./main.js"></script></body>',
    files: { 'main.js': main, 'in-react.jsx': example('jsx'), 'InVue.vue': example('vue') },
    packages: ['react', 'react-dom', 'vue'],
    models: MODELS,
  });
  const isCustomElement = (tag: string): boolean => tag === 'outrider-chat';
  const plugins = [vue({ template: { compilerOptions: { isCustomElement } } })];
  await build({ root: folder, configFile: false, logLevel: 'error', base: './', plugins, worker: { format: 'es' } });
  await using server = new WatchedServer(join(folder, 'dist'));
  await page.goto(await server.listen());
  for (const id of ['react', 'vue']) {
    const part = page.locator(`#${id}`);
    await expect(part.getByText('Ask something.')).toBeVisible();
    await asks(page, part, QUESTION);
    await expect(part.getByText(/^\d\.\d tokens in each round$/)).toBeVisible();
  }
});

test('a server that renders pages may import it', async () => {
  const main = "import { OutriderChat } from 'outrider/widget';\nexport default typeof OutriderChat;";
  const folder = freshProject(outrider, { html: '', files: { 'server.js': main } });
  const { default: type } = await import(join(folder, 'server.js'));
  expect(type).toBe('function');
});

/** What the compiler says of our package and of the files, under the strictest settings. */
const complaints = (
  compiler: string,
  sources: Readonly<Record<string, string>>,
  packages: readonly string[],
): readonly string[] => {
  const names = Object.keys(sources);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: [],
    skipDefaultLibCheck: true, // half of the time, and the compiler's own libraries are not ours
    lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
  };
  const files = { ...sources, 'tsconfig.json': JSON.stringify({ compilerOptions, files: names }) };
  const folder = freshProject(outrider, { html: '', files, packages });
  const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules', compiler), '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout
    .split('\n')
    .filter((line) => names.some((name) => line.startsWith(name)) || line.includes('node_modules/outrider/'));
};

test('its types in React, under strict settings', () => {
  const source = `
import { type OutriderChat } from 'outrider/widget/react';
import { createRef, useState } from 'react';

const chat = createRef<OutriderChat>();
export const Tutor = () => {
  const [tau, setTau] = useState<number | null>(null);
  return (
    <>
      <outrider-chat
        ref={chat}
        className="tutor"
        system="dflash"
        maxTokens={200}
        top-p={0.9}
        knobs={{ 'block-size': 8 }}
        rejected
        onoutrider-done={({ detail }) => setTau(detail.metrics.tokens_per_round)}
      >
        <p slot="empty">Ask.</p>
      </outrider-chat>
      <button type="button" onClick={() => chat.current?.stop()}>{tau?.toFixed(1)}</button>
      {/* @ts-expect-error: a number */}
      <outrider-chat maxTokens="many" />
      {/* @ts-expect-error: a number, by the attribute's name too */}
      <outrider-chat max-tokens="many" />
      {/* @ts-expect-error: no such setting */}
      <outrider-chat sistem="dflash" />
      {/* @ts-expect-error: no such member */}
      <outrider-chat onoutrider-done={({ detail }) => detail.nothing} />
    </>
  );
};
`;
  expect(complaints('typescript/bin/tsc', { 'tutor.tsx': source }, ['react', '@types/react', 'csstype'])).toEqual([]);
});

test('its types in Vue, under strict settings', () => {
  const page = (...attributes: readonly string[]): string => `<script setup lang="ts">
import 'outrider/widget/vue';
import { ref, useTemplateRef } from 'vue';

const tau = ref<number | null>(null);
const chat = useTemplateRef('chat');
</script>

<template>
  <outrider-chat ref="chat" class="tutor" system="dflash" rejected ${attributes.join(' ')}><p slot="empty">Ask.</p></outrider-chat>
  <button type="button" @click="chat?.stop()">{{ tau?.toFixed(1) }}</button>
</template>
`;
  const done = '@outrider-done="tau = $event.detail.metrics.tokens_per_round"';
  const sources = {
    'Right.vue': page(':max-tokens="200"', `:knobs="{ 'block-size': 8 }"`, done),
    'Wrong.vue': page(`:max-tokens="'many'"`, '@outrider-done="tau = $event.detail.nothing"'),
  };
  const told = complaints('vue-tsc/bin/vue-tsc.js', sources, ['vue', '@vue']);
  expect(told.filter((line) => !line.startsWith('Wrong.vue'))).toEqual([]);
  const wrong = told.join('\n');
  expect(wrong).toContain("Type 'string' is not assignable to type 'number'");
  expect(wrong).toContain("Property 'nothing' does not exist on type 'ChatAnswer'");
});
