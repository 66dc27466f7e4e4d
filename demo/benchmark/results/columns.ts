// The columns of the results: how each figure of a row is written in the table and in the Markdown.
import type { Spread } from '../../../src/cli/bench/report.ts';
import { megabytes } from '../../shared/elements.ts';
import { percent } from '../../shared/percent.ts';
import type { HostMemory } from '../queue/host-memory.ts';
import type { ResultRow } from './result-row.ts';

const NONE = '–';

export const short = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(3);

export const spreadText = (value: Spread | null): string => {
  if (!value) return NONE;
  const { median, min, max } = value;
  return min === max ? short(median) : `${short(median)} (${short(min)}–${short(max)})`;
};

const figure = (value: number | null): string => (value === null ? NONE : short(value));

const share = (value: number | null): string => (value === null ? NONE : percent(value));

const lossless = ({ lossless, guarantee }: ResultRow): string => {
  if (lossless === null) return guarantee === 'approximate' ? 'approximate: may differ' : NONE;
  return lossless ? '✓ same tokens' : '✗ different tokens';
};

const work = ({ dispatches_per_token, submits_per_token, readbacks_per_token }: ResultRow): string =>
  [dispatches_per_token, submits_per_token, readbacks_per_token].map((each) => figure(each)).join(' · ');

/** Answers that the token limit ended are neither right nor wrong. */
const accuracy = ({ accuracy: right, cut_off: cutOff, runs }: ResultRow): string => {
  if (cutOff === 0) return share(right);
  return cutOff === runs ? 'cut off' : `${share(right)}, ${cutOff} of ${runs} cut off`;
};

export interface Column {
  readonly title: string;
  /** Explanation below the title. */
  readonly about?: string;
  /** Shown on demand. */
  readonly more?: true;
  text(row: ResultRow): string;
}

export const COLUMNS: readonly Column[] = [
  { title: 'Tokens/s', about: 'median (range)', text: (row) => spreadText(row.tokens_per_second) },
  {
    title: '× baseline',
    about: 'ratio of speeds',
    text: ({ speedup, system, baseline }) =>
      system === baseline
        ? '1'
        : `${spreadText(speedup)}${baseline === 'autoregressive' || !speedup ? '' : ` vs ${baseline}`}`,
  },
  {
    title: 'Acceptance length',
    about: 'tokens per round',
    // A step router's rounds write steps, which are not accepted token by token.
    text: (row) => (row.guarantee === 'approximate' ? NONE : figure(row.tokens_per_round)),
  },
  { title: 'Output', about: 'against baseline', text: lossless },
  {
    title: 'Bandwidth used',
    about: 'by reading weights',
    more: true,
    text: (row) => share(row.bandwidth_share || null),
  },
  {
    title: 'Peak memory',
    about: 'GPU buffers',
    more: true,
    text: (row) => (row.peak_bytes > 0 ? megabytes(row.peak_bytes) : NONE),
  },
  {
    title: 'Host memory',
    about: 'outside the GPU',
    more: true,
    text: ({ host_memory: host }) => (host ? megabytes(host.bytes) : NONE),
  },
  { title: 'GPU calls per token', about: 'dispatches · submits · maps', more: true, text: work },
  { title: 'Accuracy', about: 'correct answers', text: accuracy },
];

const HOST_MEMORY: Readonly<Record<HostMemory['by'], string>> = {
  measureUserAgentSpecificMemory:
    'Host memory is that of the worker after its last run, by performance.measureUserAgentSpecificMemory().',
  'performance.memory':
    'Host memory is the JavaScript heap of the page, by performance.memory, which does not count workers. ' +
    'A cross-origin isolated page can measure workers too.',
};

/** What the memory column measures, and by which interface. */
export const hostMemoryNote = (rows: readonly Pick<ResultRow, 'host_memory'>[]): string => {
  const by = rows.find(({ host_memory: host }) => host !== null)?.host_memory?.by;
  return by ? HOST_MEMORY[by] : '';
};
