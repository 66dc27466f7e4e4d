// How many skipped tests needed ../shared, the folder of reference outputs and real models that only our own machines have.
// A file of vitest's needs it when it imports src/testing/goldens/shared.ts; the other suites give the reason with the test.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

const REASON = '../shared is absent';

export const sharedIsAbsent = () => !existsSync(join(root, '../shared'));

/** @param {{ testResults: { name: string, assertionResults: { status: string }[] }[] }} report of vitest, as JSON */
export const withoutSharedInVitest = ({ testResults }) =>
  testResults
    .filter(({ name }) => readFileSync(name, 'utf8').includes('testing/goldens/shared.ts'))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'skipped' || status === 'pending').length;

/**
 * @typedef {{ annotations: { type: string, description?: string }[] }} PlaywrightTest
 * @typedef {{ specs?: { tests: PlaywrightTest[] }[], suites?: PlaywrightSuite[] }} PlaywrightSuite
 * @param {PlaywrightSuite} suite of Playwright's report, and the suites in it
 * @returns {number}
 */
export const withoutSharedInPlaywright = ({ specs = [], suites = [] }) =>
  specs
    .flatMap(({ tests }) => tests)
    .filter(({ annotations }) => annotations.some(({ type, description }) => type === 'skip' && description === REASON))
    .length + suites.reduce((sum, suite) => sum + withoutSharedInPlaywright(suite), 0);

/** @param {string} xml of pytest, in JUnit's format */
export const withoutSharedInPytest = (xml) =>
  [...xml.matchAll(/<skipped[^>]*message="([^"]*)"/g)].filter(([, message = '']) => message.includes(REASON)).length;
