// A result as Markdown, for an issue: the plan, the device, the table, and how to read it.
import { many } from '../../shared/words.ts';
import { COLUMNS, hostMemoryNote, short } from './columns.ts';
import type { ResultFile } from './result-file.ts';
import type { ResultRow } from './result-row.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

export const deviceName = ({
  description,
  vendor,
  architecture,
  software,
}: Pick<NonNullable<ResultFile['device']>, 'description' | 'vendor' | 'architecture' | 'software'>): string =>
  [...new Set([description, vendor, architecture, software ? 'software' : ''])]
    .filter((part) => part !== '')
    .join(' · ');

const passes = ({ device }: ResultFile): readonly string[] => {
  if (!device?.passes) return [];
  const cost = Object.entries(device.passes.relative).map(([rows, times]) => `${rows}: ${times.toFixed(2)}`);
  return [`- T(M)/T(1) of ${device.passes.model}: ${cost.join(', ')}`];
};

const faults = (rows: readonly ResultRow[]): readonly string[] =>
  rows.flatMap((row) => row.faults.map(({ prompt, message }) => `- ${row.title}, prompt ${prompt + 1}: ${message}`));

export const markdownOf = (file: ResultFile): string => {
  const { device, plan, software, rows, made } = file;
  const failed = faults(rows);
  const memory = hostMemoryNote(rows);
  return [
    `## Outrider ${software.outrider}, ${made.slice(0, 10)}`,
    '',
    ...(device
      ? [
          `- Device: ${deviceName(device)}`,
          `- Measured: ${short(device.bandwidth_gb_per_second)} GB/s, ${short(device.multiply_add_gflops)} GFLOP/s`,
        ]
      : []),
    ...passes(file),
    `- Model: ${plan.model}${plan.precision ? `, ${plan.precision}` : ''}`,
    `- Prompts: ${plan.suite}, ${many(plan.prompts.length, 'prompt')}, ${many(plan.repeat, 'run')} per prompt, at most ${plan.max_tokens} tokens`,
    `- Sampling: temperature ${plan.temperature}, seeds from ${plan.seed}`,
    `- Browser: ${software.browser}${software.peers.length > 0 ? `; compared with: ${software.peers.join(', ')}` : ''}`,
    '',
    line(['System', ...COLUMNS.map(({ title, about }) => (about ? `${title} (${about})` : title))]),
    line(['---', ...COLUMNS.map(() => '---:')]),
    ...rows.map((row) => line([row.title, ...COLUMNS.map((column) => column.text(row))])),
    '',
    'Figures are medians, with the range in brackets. ' +
      'A ratio compares a run with the baseline run next to it in the same worker.',
    ...(memory ? [memory] : []),
    ...(failed.length > 0 ? ['', 'Errors:', '', ...failed] : []),
    '',
  ].join('\n');
};
