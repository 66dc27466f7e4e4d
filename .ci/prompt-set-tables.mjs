// Tables of systems on several sets of prompts: a report of `bench` for each set.

/** @typedef {import('../src/cli/bench/compare.ts').BenchReport} BenchReport */
/** @typedef {BenchReport['systems'][number]} Row */
/** @typedef {typeof import('../src/base/statistics.ts').intervals} Intervals */
/** Reports by the names of their sets, and what the sets are called. @typedef {{ reports: Readonly<Record<string, BenchReport>>, titles: Readonly<Record<string, string>>, intervals: Intervals }} Sets */

/** @param {BenchReport | undefined} report @param {string} system @returns {Row} */
const rowOf = (report, system) => {
  const row = report?.systems.find((each) => each.system === system);
  if (!row) throw new Error(`no figures of ${system} in a set`);
  return row;
};

/** @param {number} value @param {readonly [number, number] | null | undefined} interval */
const cell = (value, interval) =>
  interval ? `${value.toFixed(2)} (${interval.map((end) => end.toFixed(2)).join('–')})` : value.toFixed(2);

/** @param {Row} row @param {boolean} whole Its prompt is counted too. */
const times = ({ prompts }, whole) =>
  prompts.map(({ decode_ms, prefill_ms }) => (decode_ms?.median ?? 0) + (whole ? (prefill_ms?.median ?? 0) : 0));

/** The systems of the reports, plain decoding apart. @param {Sets} sets */
export const systemsOf = ({ reports }) =>
  (Object.values(reports)[0]?.systems ?? [])
    .filter(({ system, baseline }) => system !== baseline)
    .map(({ system }) => system);

/** Median of the ratios of one set's prompts. @param {Sets} sets @param {string} set @param {string} system */
export const speedOnSet = ({ reports }, set, system) => {
  const { speedup, intervals } = rowOf(reports[set], system);
  return speedup ? cell(speedup.median, intervals?.speedup) : '–';
};

/**
 * Time of plain decoding for all prompts of all sets, divided by that of the system. The interval draws prompts anew
 * within each set.
 * @param {Sets} sets @param {string} system @param {boolean} whole Whole answers, their prompts included; else decoding alone.
 */
export const speedOnAll = ({ reports, intervals }, system, whole) => {
  const pairs = Object.values(reports).map((report) => ({
    plain: times(rowOf(report, rowOf(report, system).baseline), whole),
    own: times(rowOf(report, system), whole),
  }));
  // Each prompt has a place in the list of all sets. What is drawn for a place is a prompt of the same set.
  const places = pairs.flatMap(({ plain, own }) => own.map(() => ({ plain, own })));
  /** @param {ArrayLike<number>} drawn */
  const ratio = (drawn) => {
    const sum = (/** @type {'plain' | 'own'} */ of) =>
      places.reduce((all, times, place) => all + (times[of][(drawn[place] ?? 0) % times.own.length] ?? 0), 0);
    return sum('plain') / sum('own');
  };
  return cell(ratio(firstOfEach(pairs)), intervals(places.length, { ratio }).ratio);
};

/** Every prompt once. @param {readonly { readonly own: readonly number[] }[]} pairs */
const firstOfEach = (pairs) => pairs.flatMap(({ own }) => [...own.keys()]);

/** A row a set, and two for all of them. @param {Sets} sets @returns {string[][]} */
export const speedRows = (sets) => {
  const systems = systemsOf(sets);
  return [
    ...Object.entries(sets.titles).map(([set, title]) => [title, ...systems.map((id) => speedOnSet(sets, set, id))]),
    ['**all, by the sum of their times**', ...systems.map((id) => `**${speedOnAll(sets, id, false)}**`)],
    ['all, prompts included', ...systems.map((id) => speedOnAll(sets, id, true))],
  ];
};

/** Tokens a round. @param {Sets} sets @returns {string[][]} */
export const roundRows = (sets) =>
  Object.entries(sets.titles).map(([set, title]) => [
    title,
    ...systemsOf(sets).map((id) => rowOf(sets.reports[set], id).tokens_per_round?.toFixed(2) ?? '–'),
  ]);

/**
 * Of the rounds that drafted a token in a place of a chain, the share that kept it.
 * @param {Sets} sets @param {string} system @param {number} places @returns {string[][]}
 */
export const placeRows = (sets, system, places) =>
  Object.entries(sets.titles).map(([set, title]) => {
    const shares = rowOf(sets.reports[set], system).acceptance_by_slot;
    return [title, ...Array.from({ length: places }, (_, i) => shares[i]?.toFixed(2) ?? '–')];
  });
