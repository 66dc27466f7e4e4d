// `npm test`: brings what the machine lacks, then runs every check and every test, and sums up in one last line.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { check, SHADER_TESTS } from './check.mjs';
import { findPython } from './machine.mjs';
import { provide } from './provide.mjs';
import { root, run, skip, tool } from './steps.mjs';

const results = join(root, 'test-results');
const total = { passed: 0, failed: 0, skipped: 0 };

/** @param {{ passed: number, failed: number, skipped?: number }} counts */
const add = ({ passed, failed, skipped = 0 }) => {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
};

/**
 * Runs a suite that writes a report, and counts from it. A suite that dies without a report is one failure.
 * @param {string} title
 * @param {string} report
 * @param {string[]} command
 * @param {(report: any) => { passed: number, failed: number, skipped: number }} count
 */
const suite = async (title, report, command, count) => {
  console.log(`\n== ${title}`);
  const { code } = await run(command, { live: true, env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report } });
  if (!existsSync(report)) return add({ passed: 0, failed: 1 });
  const text = readFileSync(report, 'utf8');
  const counts = count(report.endsWith('.json') ? JSON.parse(text) : text);
  add(code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts);
};

const started = performance.now();
await provide();
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

console.log('\n== check');
add(await check());

const vitest = join(results, 'vitest.json');
await suite(
  'unit, GPU and golden tests (vitest)',
  vitest,
  [tool('vitest'), 'run', '--exclude', SHADER_TESTS, '--reporter=default', '--reporter=json', `--outputFile=${vitest}`],
  (report) => ({
    passed: report.numPassedTests,
    // A file that fails to load has no tests in it.
    failed: Math.max(
      report.numFailedTests,
      report.testResults.filter((/** @type {{ status: string }} */ file) => file.status === 'failed').length,
    ),
    skipped: report.numPendingTests,
  }),
);

const browser = join(results, 'playwright.json');
await suite(
  'the page in Chromium (playwright)',
  browser,
  [tool('playwright'), 'test', '--config', 'e2e', '--reporter=list,json'],
  ({ stats }) => ({ passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped }),
);

const python = findPython('pytest', 'torch', 'numpy', 'tokenizers');
if (python) {
  const junit = join(results, 'pytest.xml');
  await suite(
    'training/ (pytest)',
    junit,
    [python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junitxml=${junit}`, 'training'],
    (xml) => {
      const number = (/** @type {string} */ name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(xml)?.[1] ?? 0);
      const [failed, skipped] = [number('failures') + number('errors'), number('skipped')];
      return { passed: number('tests') - failed - skipped, failed, skipped };
    },
  );
} else skip('pytest in training/', 'needs Python with training/requirements.txt and pytest');

const minutes = ((performance.now() - started) / 60_000).toFixed(1);
console.log(`\n${total.skipped} skipped, ${minutes} minutes`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
