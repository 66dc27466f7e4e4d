// A row's figures as people read them: the table's cells, and the columns of the Markdown.
import type { Spread } from '../../../src/cli/bench/report.ts';
import { megabytes } from '../../shared/elements.ts';
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

const percent = (value: number | null): string => (value === null ? NONE : `${(100 * value).toFixed(1)} %`);

const lossless = ({ lossless, guarantee }: ResultRow): string => {
  if (lossless === null) return guarantee === 'approximate' ? 'not claimed' : NONE;
  return lossless ? '✓ same tokens' : '✗ other tokens';
};

const work = ({ dispatches_per_token, submits_per_token, readbacks_per_token }: ResultRow): string =>
  [dispatches_per_token, submits_per_token, readbacks_per_token].map((each) => figure(each)).join(' · ');

export interface Column {
  readonly title: string;
  /** What it means, where the title cannot say it. */
  readonly about?: string;
  text(row: ResultRow): string;
}

export const COLUMNS: readonly Column[] = [
  { title: 'Tokens/s', about: 'median (range)', text: (row) => spreadText(row.tokens_per_second) },
  {
    title: '× baseline',
    about: 'of neighbouring runs',
    text: ({ speedup, system, baseline }) =>
      system === baseline
        ? '1'
        : `${spreadText(speedup)}${baseline === 'autoregressive' || !speedup ? '' : ` of ${baseline}`}`,
  },
  { title: 'τ', about: 'tokens a round', text: (row) => figure(row.tokens_per_round) },
  { title: 'Lossless', about: 'token by token', text: lossless },
  { title: 'Of bandwidth', about: 'weights read', text: (row) => percent(row.bandwidth_share || null) },
  {
    title: 'Peak memory',
    about: 'GPU buffers',
    text: (row) => (row.peak_bytes > 0 ? megabytes(row.peak_bytes) : NONE),
  },
  {
    title: 'Host memory',
    about: 'beside the GPU',
    text: ({ host_memory: host }) => (host ? megabytes(host.bytes) : NONE),
  },
  { title: 'GPU calls a token', about: 'dispatches · submits · maps', text: work },
  { title: 'Accuracy', about: 'right answers', text: (row) => percent(row.accuracy) },
];

const HOST_MEMORY: Readonly<Record<HostMemory['by'], string>> = {
  measureUserAgentSpecificMemory:
    'Host memory: of the worker that ran it, after its last run, by performance.measureUserAgentSpecificMemory().',
  'performance.memory':
    'Host memory: the page’s JavaScript heap, by performance.memory, which does not count workers; a page that is cross-origin isolated is told more.',
};

/** Which memory that is, and who says so. */
export const hostMemoryNote = (rows: readonly Pick<ResultRow, 'host_memory'>[]): string => {
  const by = rows.find(({ host_memory: host }) => host !== null)?.host_memory?.by;
  return by ? HOST_MEMORY[by] : '';
};
