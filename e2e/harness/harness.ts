// An empty page with the library as a global, for tests that use it as a program does.
import { promptApi } from '../../src/api/prompt-api.ts';
import * as outrider from '../../src/index.ts';

Object.assign(globalThis, { outrider, promptApi });
