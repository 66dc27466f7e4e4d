// Runs commands of the real program one after another, each with streams and an environment of its own. Started by
// run-cli.ts, for tests of commands that open no device.
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const written = { stdout: '', stderr: '' };
for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
  process[name].setMaxListeners(0); // every command adds one
  process[name].write = (/** @type {any} */ text, /** @type {any[]} */ ...more) => {
    written[name] += text;
    more.at(-1)?.();
    return true;
  };
}

await import('../cli/outrider.mjs'); // builds the bundle where a source has changed, and prints its help
const { main } = await import(join(root, 'dist/cli.js'));

let last = Promise.resolve();
process.on('message', (/** @type {{ args: string[], env: NodeJS.ProcessEnv }} */ { args, env }) => {
  last = last.then(async () => {
    Object.assign(written, { stdout: '', stderr: '' });
    process.env = env;
    const status = await main(args, { root });
    process.send?.({ status, ...written });
  });
});
process.send?.('ready');
