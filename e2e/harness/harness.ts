// An empty page with the library as a global, for tests that use it as a program does.
import { promptApi } from '../../src/api/prompt-api.ts';
import * as outrider from '../../src/index.ts';

Object.assign(globalThis, { outrider, promptApi });

// Where no tool drives the page, its address names the module that does the test's work.
const script = new URLSearchParams(location.search).get('run');
if (script) await import(/* @vite-ignore */ script);
