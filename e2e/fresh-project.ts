// A new project of a library user: the unpacked npm package in node_modules, only the dependencies of its package.json,
// and a page. Nothing comes from the network.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { test } from '@playwright/test';
import { root } from './server.ts';

const link = (folder: string, name: string): void => {
  const path = join(folder, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), path);
};

/**
 * `npm pack`, unpacked. The first worker that asks makes it, and the others wait: it builds in `dist`, which they share.
 */
export const packed = async (): Promise<string> => {
  const { outputDir } = test.info().project; // Playwright empties it before every run
  const folder = join(outputDir, 'package');
  mkdirSync(dirname(folder), { recursive: true });
  while (!existsSync(join(folder, READY)))
    if (isFirst(folder)) pack(folder);
    else await setTimeout(200);
  return join(folder, 'package');
};

const READY = 'ready';

/** Creates the folder; false if it is there. */
const isFirst = (folder: string): boolean => {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

const pack = (folder: string): void => {
  try {
    const names = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    });
    execFileSync('tar', ['-xzf', join(folder, names.trim().split('\n').at(-1) ?? ''), '-C', folder]);
    writeFileSync(join(folder, READY), '');
  } catch (error) {
    rmSync(folder, { recursive: true }); // so that the other workers do not wait for it
    throw error;
  }
};

export interface Page {
  readonly html: string;
  readonly files: Readonly<Record<string, string>>;
  /** Packages in addition to outrider's own dependencies. */
  readonly packages?: readonly string[];
  /** The bundled models that the page serves. */
  readonly models?: readonly string[];
}

/** Creates the project; bundled models are in `public/models`, as the guide says. */
export const freshProject = (outrider: string, { html, files, packages = [], models = ['draft'] }: Page): string => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-project-'));
  const { dependencies } = JSON.parse(readFileSync(join(outrider, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), ...packages]) link(folder, name);
  cpSync(outrider, join(folder, 'node_modules/outrider'), { recursive: true });
  for (const model of models)
    cpSync(join(outrider, 'public/models', model), join(folder, 'public/models', model), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  writeFileSync(join(folder, 'index.html'), html);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
};
