// ../shared, the folder of reference outputs and real models next to the project. A user's machine does not have it:
// the tests that need it are skipped, and `npm test` counts them in its last lines. Under CI its absence is a failure.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const folder = resolve(import.meta.dirname, '../../../../shared');
const present = existsSync(folder);

if (!present && process.env.CI === 'true')
  throw new Error('CI needs the reference data in ../shared, and it is not there');
if (!present)
  console.warn('\n*** ../shared is absent: tests against reference outputs and real models are SKIPPED ***\n');

/** For `describe.skipIf(noShared)`. */
export const noShared = !present;
/** An absolute path inside the shared folder. */
export const shared = (...parts: string[]): string => resolve(folder, ...parts);
