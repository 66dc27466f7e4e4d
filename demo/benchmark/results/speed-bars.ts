// Tokens per second as bars, the fastest row filling the width. They grow while results arrive.
import { element, make } from '../../shared/elements.ts';
import { short, spreadText } from './columns.ts';
import type { ResultRow } from './result-row.ts';

/** What stands next to a bar: the median with its range, and the ratio to the baseline of the same run. */
export const barText = ({ tokens_per_second: speed, speedup, system, baseline }: ResultRow): string => {
  if (!speed) return 'not measured yet';
  const ratio = speedup && system !== baseline ? `, ${speedup.median.toFixed(2)}× ${baselineName(baseline)}` : '';
  return `${spreadText(speed)} tokens/s${ratio}`;
};

const baselineName = (baseline: string): string => (baseline === 'autoregressive' ? 'plain decoding' : baseline);

export class SpeedBars {
  readonly #list = element('bars', HTMLOListElement);

  show(rows: readonly ResultRow[]): void {
    const most = Math.max(...rows.map(({ tokens_per_second: speed }) => speed?.median ?? 0));
    this.#list.replaceChildren(
      ...rows.map((row) => {
        const bar = make('span', { className: 'bar-of-speed', ariaHidden: 'true' });
        const speed = row.tokens_per_second?.median ?? 0;
        bar.style.setProperty('--share', most > 0 ? short(speed / most) : '0');
        const item = make(
          'li',
          {},
          make('span', { className: 'bar-name' }, row.title),
          bar,
          make('span', { className: 'bar-figure muted' }, barText(row)),
        );
        item.dataset.guarantee = row.guarantee;
        return item;
      }),
    );
  }
}
