// An empty page that has the library as a global, for tests that use it as a program would.
import * as outrider from '../../src/index.ts';

Object.assign(globalThis, { outrider });
