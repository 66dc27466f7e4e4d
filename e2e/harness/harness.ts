// An empty page with the library as a global, for tests that use it as a program does.
import * as outrider from '../../src/index.ts';

Object.assign(globalThis, { outrider });
