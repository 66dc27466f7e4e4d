// `npm test`: brings what the machine lacks, then runs every check and every test, and sums up in one last line.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { sharedIsAbsent, withoutSharedInPlaywright, withoutSharedInPytest, withoutSharedInVitest } from './absent.mjs';
import { check, SHADER_TESTS } from './check.mjs';
import { findPython } from './machine.mjs';
import { provide } from './provide.mjs';
import { root, run, skip, tool } from './steps.mjs';

const results = join(root, 'test-results');
const total = { passed: 0, failed: 0, skipped: 0, withoutShared: 0 };

/** What failed, and its message: printed again at the end, where readers of a long log look first. @type {string[]} */
const failures = [];

/**
 * @typedef {{ passed: number, failed: number, skipped?: number, withoutShared?: number, failures?: string[] }} Counts
 * @param {Counts} counts
 */
const add = ({ passed, failed, skipped = 0, withoutShared = 0, failures: names = [] }) => {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  total.withoutShared += withoutShared;
  failures.push(...names);
};

/** @param {string} name @param {string} [message] */
const failure = (name, message = '') => `${name}\n${stripVTControlCharacters(message).trim().slice(0, 2000)}`;

/**
 * Runs a suite that writes a report, and counts from it. A suite that dies without a report is one failure.
 * @param {{ title: string, report: string, command: string[], env?: Record<string, string> }} what
 * @param {(report: any) => Counts} count
 */
const suite = async ({ title, report, command, env }, count) => {
  console.log(`\n== ${title}`);
  const { code, output } = await run(command, { live: true, env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report, ...env } });
  if (!existsSync(report))
    return add({ passed: 0, failed: 1, failures: [failure(`${title}: no report`, output.slice(-2000))] });
  const text = readFileSync(report, 'utf8');
  const counts = count(report.endsWith('.json') ? JSON.parse(text) : text);
  add(
    code !== 0 && counts.failed === 0
      ? { ...counts, failed: 1, failures: [failure(`${title}: exit code ${code}`, output.slice(-2000))] }
      : counts,
  );
};

const vitest = () => {
  const report = join(results, 'vitest.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`];
  return suite(
    {
      title: 'unit, GPU and golden tests (vitest)',
      report,
      command: [tool('vitest'), 'run', '--exclude', SHADER_TESTS, ...reporters],
    },
    (report) => ({
      passed: report.numPassedTests,
      // A file that fails to load has no tests in it.
      failed: Math.max(
        report.numFailedTests,
        report.testResults.filter((/** @type {{ status: string }} */ file) => file.status === 'failed').length,
      ),
      skipped: report.numPendingTests,
      withoutShared: withoutSharedInVitest(report),
      failures: report.testResults.flatMap((/** @type {any} */ { name, status, message, assertionResults }) => {
        const tests = assertionResults.filter((/** @type {any} */ test) => test.status === 'failed');
        if (status === 'failed' && tests.length === 0) return [failure(name, message)];
        return tests.map((/** @type {any} */ test) => failure(`${name}: ${test.fullName}`, test.failureMessages[0]));
      }),
    }),
  );
};

/** Of a Playwright suite and those in it. @param {any} suite @returns {string[]} */
const failuresIn = ({ file, specs = [], suites = [] }) => [
  ...specs
    .filter((/** @type {any} */ spec) => !spec.ok)
    .map((/** @type {any} */ { title, tests }) =>
      failure(`${file}: ${title}`, tests[0]?.results.at(-1)?.errors[0]?.message),
    ),
  ...suites.flatMap(failuresIn),
];

/**
 * @param {string} title
 * @param {string} name of the report
 * @param {string[]} options
 * @param {Record<string, string>} [env]
 */
const playwright = (title, name, options, env = {}) =>
  suite(
    {
      title: `${title} (playwright)`,
      report: join(results, `${name}.json`),
      command: [tool('playwright'), 'test', '--config', 'e2e', '--reporter=list,json', ...options],
      env,
    },
    ({ stats, suites }) => ({
      passed: stats.expected,
      failed: stats.unexpected + stats.flaky,
      skipped: stats.skipped,
      withoutShared: withoutSharedInPlaywright({ suites }),
      failures: suites.flatMap(failuresIn),
    }),
  );

/**
 * Two pages keep two cores busy. Tests that require a speed come last, with the machine for each of them alone.
 * @param {Record<string, string>} built
 */
const pages = async (built) => {
  await playwright('the pages in Chromium', 'playwright', ['--workers=2', '--grep-invert=@alone'], built);
  await playwright('frames and long tasks in Chromium', 'playwright-alone', ['--workers=1', '--grep=@alone'], built);
};

const pytest = async () => {
  const python = findPython('pytest', 'torch', 'numpy', 'tokenizers');
  if (!python) return skip('pytest in training/', 'needs Python with training/requirements.txt and pytest');
  const report = join(results, 'pytest.xml');
  await suite(
    {
      title: 'training/ (pytest)',
      report,
      command: [python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junitxml=${report}`, 'training'],
    },
    (xml) => {
      const number = (/** @type {string} */ name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(xml)?.[1] ?? 0);
      const [failed, skipped] = [number('failures') + number('errors'), number('skipped')];
      return { passed: number('tests') - failed - skipped, failed, skipped, withoutShared: withoutSharedInPytest(xml) };
    },
  );
};

const started = performance.now();
await provide();
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

console.log('\n== check');
const checked = await check();
add(checked);

// One after another: both fill the machine.
await vitest();
await pages(checked.failed === 0 ? { OUTRIDER_BUILT: '1' } : {}); // what is built need not be built again
await pytest();

for (const each of failures) console.log(`\nFAILED  ${each}`);
const minutes = ((performance.now() - started) / 60_000).toFixed(1);
console.log(`\n${minutes} minutes`);
const because = sharedIsAbsent() ? `, ${total.withoutShared} of them because ../shared is absent` : '';
console.log(`${total.skipped} skipped${because}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
