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
 * @param {{ title: string, report: string, command: string[], env?: Record<string, string> }} what
 * @param {(report: any) => { passed: number, failed: number, skipped: number }} count
 * @param {{ beside?: boolean }} [how] `beside` another: it lets that one go first, and is shown when it is over.
 */
const suite = async ({ title, report, command, env = {} }, count, { beside = false } = {}) => {
  if (!beside) console.log(`\n== ${title}`);
  const { code, output } = await run(command, {
    live: !beside,
    nice: beside ? 5 : 0,
    env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report },
  });
  if (beside) console.log(`\n== ${title}\n${output}`);
  if (!existsSync(report)) return add({ passed: 0, failed: 1 });
  const text = readFileSync(report, 'utf8');
  const counts = count(report.endsWith('.json') ? JSON.parse(text) : text);
  add(code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts);
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
    ({ numPassedTests, numFailedTests, numPendingTests, testResults }) => ({
      passed: numPassedTests,
      // A file that fails to load has no tests in it.
      failed: Math.max(
        numFailedTests,
        testResults.filter((/** @type {{ status: string }} */ file) => file.status === 'failed').length,
      ),
      skipped: numPendingTests,
    }),
    { beside: true },
  );
};

/** @param {'calm' | 'page'} project @param {Record<string, string>} [env] */
const playwright = (project, env) =>
  suite(
    {
      title: `the page in Chromium (playwright, ${project})`,
      report: join(results, `playwright-${project}.json`),
      command: [tool('playwright'), 'test', '--config', 'e2e', '--project', project, '--reporter=list,json'],
      ...(env && { env }),
    },
    ({ stats }) => ({ passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped }),
  );

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
      return { passed: number('tests') - failed - skipped, failed, skipped };
    },
    { beside: true },
  );
};

const started = performance.now();
await provide();
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

console.log('\n== check');
add(await check());

// What measures frames has the machine to itself. The other tests of the page wait as often as they compute, and what they
// leave of the machine the others take.
await playwright('calm');
const beside = vitest().then(pytest);
await playwright('page', { OUTRIDER_BUILT: '1' });
await beside;

const minutes = ((performance.now() - started) / 60_000).toFixed(1);
console.log(`\n${total.skipped} skipped, ${minutes} minutes`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
