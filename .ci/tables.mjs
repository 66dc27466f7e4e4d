// Writes the generated tables of README and guide: what stands between `<!-- table: NAME -->` and `<!-- /table -->`. Figures come
// from docs/results, facts about systems from the systems themselves.
//   node .ci/tables.mjs           fails and names the documents whose tables are out of date
//   node .ci/tables.mjs --write   brings them up to date
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runnerImport } from 'vite';
import { placeRows, roundRows, speedOnAll, speedOnSet, speedRows, systemsOf } from './prompt-set-tables.mjs';
import { root } from './steps.mjs';

/** @typedef {import('../src/decode/core/system.ts').DecodingSystem} DecodingSystem */
/** @typedef {import('../src/cli/bench/compare.ts').BenchReport & { commit: string | null }} BenchReport */
/** @typedef {import('../src/base/statistics.ts').Spread} Spread */

/**
 * How a table was measured (docs/results/runs.json), by its name.
 * @typedef {object} Run
 * @property {string} file Next to runs.json: what `bench --json` printed, or, where `columns` are named in it, rows; with `sets` a folder.
 * @property {string} date
 * @property {string} command
 * @property {string} machine
 * @property {string} [source] Of rows: where their figures stand.
 * @property {readonly string[]} [systems] Those of a report that are shown; default: all.
 * @property {Readonly<Record<string, string>>} [sets] What sets of prompts are called, by the names of their files.
 */
/** @typedef {{ columns: string[], rows: string[][] }} Rows */
/** @typedef {{ folder: string, systems: readonly DecodingSystem[], groups: Readonly<Record<string, string>>, runs: Record<string, Run>, results: Record<string, any>, intervals: import('./prompt-set-tables.mjs').Intervals }} Facts */

/** @param {string[]} columns @param {string[][]} rows */
const markdown = (columns, rows) => {
  const rule = columns.map((_, i) => (i > 0 && rows.some((row) => /^\**[\d.]+/.test(row[i] ?? '')) ? '---:' : '---'));
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
};

/** @param {Spread | null} spread @param {number} digits */
const range = (spread, digits) =>
  spread ? `${spread.median.toFixed(digits)} (${spread.min.toFixed(digits)}–${spread.max.toFixed(digits)})` : '–';

/** When, where and how: a reader can run it again. The README is short, so it links. @param {Run} run @param {string} folder The document's. */
const caption = ({ date, machine, command, source }, folder) => {
  const from = source ? `. Source: [${source}](${relative(folder, source)})` : '';
  if (folder === '.')
    return `Measured on ${date}, ${machine}${from} ([command](docs/results/runs.json), [all rows](docs/results)).`;
  return [`Measured on ${date}, ${machine}${from}:`, '```sh', command, '```'].join('\n');
};

/** @param {string} paper */
const paperLink = (paper) => {
  const number = /arxiv\.org\/abs\/(.+)$/.exec(paper)?.[1];
  if (number) return `[${number}](${paper})`;
  return paper === '' ? '' : `[code](${paper})`;
};

/** @param {DecodingSystem} system */
const needs = ({ needs, uses = [], usesOneOf = [], instead = {} }) => {
  const others = Object.values(instead);
  const must = needs.filter((role) => role !== 'target');
  const may = uses.filter((role) => !needs.includes(role) && !others.includes(role));
  return [
    ...must.map((role) =>
      [role, instead[role] ?? []]
        .flat()
        .map((r) => `\`${r}\``)
        .join(' or '),
    ),
    ...(may.length > 0 ? [`(${may.map((r) => `\`${r}\``).join(', ')})`] : []),
    ...(usesOneOf.length > 0 ? [`(${usesOneOf.map((r) => `\`${r}\``).join(' or ')})`] : []),
  ];
};

/**
 * One row a system, under the titles of their groups.
 * @param {Facts} facts
 * @param {string[]} columns
 * @param {(system: DecodingSystem) => string[]} row
 */
const byGroup = ({ systems, groups }, columns, row) =>
  markdown(
    columns,
    Object.entries(groups).flatMap(([group, title]) => [
      [`**${title}**`, ...columns.slice(1).map(() => '')],
      ...systems.filter((system) => system.group === group).map(row),
    ]),
  );

/**
 * The median, and the 95 % interval over prompts; of reports from before there was one, the smallest and largest.
 * @param {Spread | null} spread @param {readonly [number, number] | null | undefined} interval @param {number} digits
 */
const estimate = (spread, interval, digits) =>
  spread && interval
    ? `${spread.median.toFixed(digits)} (${interval.map((end) => end.toFixed(digits)).join('–')})`
    : range(spread, digits);

/** Settings of which the name does not say what they mean. */
const MEANINGS = /** @type {Readonly<Record<string, string>>} */ ({ 'depth=0': 'as deep as pays' });

/** Its title and its settings. @param {Facts} facts @param {string} name */
const titleOf = ({ systems }, name) => {
  const [id, ...settings] = name.split(':');
  return [
    systems.find((each) => each.id === id)?.title ?? id,
    ...settings.map((each) => MEANINGS[each] ?? `\`${each}\``),
  ].join(', ');
};

/** Of systems in a report of `bench`. @param {Facts} facts @param {string} name @param {(id: string) => boolean} wanted */
const measured = (facts, name, wanted) => {
  const { runs, results, folder } = facts;
  const [run, report] = [/** @type {Run} */ (runs[name]), /** @type {BenchReport} */ (results[name])];
  const plain = report.systems.find((each) => wanted(each.system) && each.system === each.baseline)?.system ?? 'plain';
  const rows = report.systems
    .filter(({ system }) => wanted(system.split(':')[0] ?? '') && (run.systems?.includes(system) ?? true))
    .map((each) => [
      titleOf(facts, each.system),
      estimate(each.tokens_per_second, each.intervals?.tokens_per_second, 0),
      each.system === each.baseline ? '1' : estimate(each.speedup, each.intervals?.speedup, 2),
      each.tokens_per_round?.toFixed(2) ?? '–',
      each.passes_per_token?.toFixed(2) ?? '–',
      each.lossless === null ? '–' : each.lossless ? 'yes' : 'NO',
    ]);
  const title = titleOf(facts, plain);
  const spread = report.systems.some(({ intervals }) => intervals) ? '95 % interval over prompts' : 'smallest–largest';
  const columns = [
    '',
    'tokens a second',
    `× ${title.toLowerCase()}`,
    'tokens a round',
    'passes per token (drafter’s included)',
    'same tokens',
  ];
  const runsEach = report.repeat > 1 ? `${report.repeat} runs each` : 'one run each';
  return [
    markdown(columns, rows),
    '',
    `Median (${spread}) of ${report.prompts} prompts, ${runsEach}, at commit ${report.commit}; × is the median of the ratios.`,
    caption(run, folder),
  ].join('\n');
};

/** What the README says of step routers: the main columns of the whole table. @param {Facts} facts */
const routers = ({ runs, results, folder }) => {
  const [run, { columns, rows }] = [/** @type {Run} */ (runs.routers), /** @type {Rows} */ (results.routers)];
  const kept = ['', "of the target's", 'steps the target wrote', 'tokens the target wrote', '× plain, steps by dflash'];
  const plain = columns.indexOf('× plain, steps by plain decoding');
  const cells = rows.map((row) =>
    kept.map((name) => {
      const cell = row[columns.indexOf(name)] ?? '';
      return cell === '–' && name.startsWith('×') ? (row[plain] ?? '') : cell;
    }),
  );
  const chosen = cells.filter(
    ([name]) => !/`(random|oracle|majority|best-of-n|draft-model)`|^target alone/.test(name ?? ''),
  );
  return [
    markdown(
      [
        `${rows[0]?.[columns.indexOf('problems')]} held-out problems`,
        'right answers (target = 100 %)',
        ...kept.slice(2, -1),
        '× plain (target’s steps by dflash; fewer problems)',
      ],
      chosen,
    ),
    '',
    caption(run, folder),
  ].join('\n');
};

/** A run on several sets of prompts. @param {Facts} facts @param {string} name */
const setsOf = ({ runs, results, intervals }, name) => ({
  reports: results[name],
  titles: /** @type {Record<string, string>} */ (runs[name]?.sets),
  intervals,
});

/** @param {Facts} facts @param {string} name */
const captionOfSets = ({ runs, results, folder }, name) => {
  const reports = Object.values(/** @type {Record<string, BenchReport>} */ (results[name]));
  /** @param {(report: BenchReport) => unknown} fact */
  const distinct = (fact) => [...new Set(reports.map(fact))].join(', ');
  const prompts = distinct((report) => report.prompts);
  if (prompts.includes(',')) throw new Error(`the sets of ${name} have ${prompts} prompts`);
  const of = `Medians; for all sets the ratio of sums. In brackets 95 % intervals over prompts: ${prompts} a set, at commit ${distinct((report) => report.commit)}.`;
  return [of, caption(/** @type {Run} */ (runs[name]), folder)].join('\n');
};

/** What the README says of a published model: a row a system. @param {Facts} facts */
const published = (facts) => {
  const sets = setsOf(facts, 'smollm2');
  const shown = ['gsm8k', 'humaneval', 'mt-bench', 'qa', 'summarization'];
  const rows = systemsOf(sets).map((id) => [
    titleOf(facts, id),
    speedOnAll(sets, id, false),
    ...shown.map((set) => speedOnSet(sets, set, id)),
  ]);
  const columns = ['× plain decoding', 'all eight sets', ...shown.map((set) => sets.titles[set] ?? set)];
  return [markdown(columns, rows), '', captionOfSets(facts, 'smollm2')].join('\n');
};

/** A row a set of prompts. @param {Facts} facts @param {string} name */
const speeds = (facts, name) => {
  const sets = setsOf(facts, name);
  const columns = ['', ...systemsOf(sets).map((id) => titleOf(facts, id))];
  return [markdown(columns, speedRows(sets)), '', captionOfSets(facts, name)].join('\n');
};

/** The tables, by name. @type {Record<string, (facts: Facts) => string>} */
const TABLES = {
  systems: (facts) =>
    byGroup(facts, ['system', 'how it decodes', 'guarantee', 'paper'], ({ id, summary, guarantee, paper }) => [
      `\`${id}\``,
      summary,
      guarantee,
      paperLink(paper),
    ]),
  'system-needs': (facts) =>
    byGroup(facts, ['system', 'models besides the target (those that help)', 'knobs'], (system) => [
      `\`${system.id}\``,
      needs(system).join(', ') || '–',
      Object.keys(system.knobs)
        .map((name) => `\`${name}\``)
        .join(', ') || '–',
    ]),
  speculative: (facts) =>
    measured(facts, 'speculative', (id) =>
      facts.systems.some((s) => s.id === id && (s.group === 'baseline' || s.group === 'speculative')),
    ),
  smollm2: published,
  'smollm2-speed': (facts) => speeds(facts, 'smollm2'),
  'smollm2-sampled': (facts) => speeds(facts, 'smollm2-sampled'),
  'smollm2-dspark': (facts) => speeds(facts, 'smollm2-dspark'),
  'smollm2-rounds': (facts) => {
    const sets = setsOf(facts, 'smollm2');
    return markdown(['', ...systemsOf(sets).map((id) => titleOf(facts, id))], roundRows(sets));
  },
  'smollm2-places': (facts) => {
    const places = 8;
    const columns = ['', ...Array.from({ length: places }, (_, i) => `${i + 1}`)];
    return markdown(columns, placeRows(setsOf(facts, 'smollm2'), 'eagle3:shape=chain:depth=0', places));
  },
  routers,
  ensembles: (facts) =>
    measured(facts, 'ensembles', (id) => facts.systems.some((s) => s.id === id && s.group === 'ensemble')),
};

/** A table whose rows stand in its file: copied from the log, or written by a script. @param {Facts} facts @param {string} name */
const asWritten = ({ runs, results, folder }, name) => {
  const [run, { columns, rows }] = [/** @type {Run} */ (runs[name]), /** @type {Rows} */ (results[name])];
  return [markdown(columns, rows), '', caption(run, folder)].join('\n');
};

/** The text with its generated tables made anew. @param {string} text @param {Facts} facts */
export const withTables = (text, facts) =>
  text.replace(/^(<!-- table: (\S+) -->\n)[\s\S]*?^(<!-- \/table -->)$/gm, (_, start, name, end) => {
    if (!(name in TABLES || 'columns' in (facts.results[name] ?? {}))) throw new Error(`no such table: ${name}`);
    return `${start}${(TABLES[name] ?? ((all) => asWritten(all, name)))(facts)}\n${end}`;
  });

/** What the tables are made from, documents apart. @returns {Promise<Omit<Facts, 'folder'>>} */
const readFacts = async () => {
  const folder = join(root, 'docs/results');
  const read = (/** @type {string} */ name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  /** @type {Record<string, Run>} */
  const runs = read('runs.json');
  const load = async (/** @type {string} */ path) =>
    (await runnerImport(join(root, path), { configFile: false, root, logLevel: 'error' })).module;
  const { SYSTEMS: systems } = await load('src/systems/index.ts');
  const { SYSTEM_GROUPS: groups } = await load('src/decode/core/system.ts');
  const { intervals } = await load('src/base/statistics.ts');
  /** @param {Run} run */
  const resultsOf = ({ file, sets }) =>
    sets ? Object.fromEntries(Object.keys(sets).map((set) => [set, read(`${file}/${set}.json`)])) : read(file);
  return {
    systems,
    groups,
    runs,
    results: Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, resultsOf(run)])),
    intervals,
  };
};

const documents = () => [
  'README.md',
  ...['docs', 'docs/guide'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

/** Documents whose tables differ from what their results say. @param {{ write?: boolean }} [options] @returns {Promise<string[]>} */
export const staleTables = async ({ write = false } = {}) => {
  const facts = await readFacts();
  return documents().flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const fresh = withTables(text, { ...facts, folder: dirname(path) });
    if (fresh === text) return [];
    if (write) writeFileSync(join(root, path), fresh);
    return [`${path}: ${write ? 'tables written' : 'a table is out of date: node .ci/tables.mjs --write'}`];
  });
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const write = process.argv.includes('--write');
  const found = await staleTables({ write });
  for (const each of found) console.log(each);
  process.exitCode = found.length > 0 && !write ? 1 : 0;
}
