// The work of a round on the device: dispatches, submits and readbacks, and the time of each kernel if it was measured.
import type { EventOf } from '../../src/trace/index.ts';
import { make } from '../shared/elements.ts';
import { many } from '../shared/words.ts';

/** Kernels shown by name; the others are summed up. */
const MOST = 8;

type Work = EventOf<'kernels'>;

/** The longest kernels first, the others as one entry. */
export const sharesOf = (spans: Work['spans']): readonly { readonly name: string; readonly ms: number }[] => {
  const sums = new Map<string, number>();
  for (const { name, ms } of spans) sums.set(name, (sums.get(name) ?? 0) + ms);
  const sorted = [...sums].map(([name, ms]) => ({ name, ms })).toSorted((a, b) => b.ms - a.ms);
  const rest = sorted.slice(MOST).reduce((sum, { ms }) => sum + ms, 0);
  return [...sorted.slice(0, MOST), ...(rest > 0 ? [{ name: 'others', ms: rest }] : [])];
};

const drawShare = ({ name, ms }: { name: string; ms: number }, longest: number): HTMLElement => {
  const bar = make('span', { className: 'share' });
  bar.style.setProperty('--share', `${(100 * ms) / longest}%`);
  return make('li', {}, make('code', {}, name), bar, make('span', { textContent: `${ms.toFixed(2)} ms` }));
};

export class KernelsView {
  readonly #about = make('p', { className: 'muted', id: 'kernels-about' });
  readonly #bars = make('ul', { className: 'kernel-bars', ariaLabel: 'Time of each kernel' });
  readonly node = make('section', { className: 'kernels' }, make('h3', {}, 'On the device'), this.#about, this.#bars);

  show(work: Work | null): void {
    const shares = sharesOf(work?.spans ?? []);
    const total = shares.reduce((sum, { ms }) => sum + ms, 0);
    const facts = work
      ? [
          many(work.dispatches, 'dispatch', 'dispatches'),
          many(work.submits, 'submit'),
          many(work.readbacks, 'readback'),
        ]
      : [];
    const time = shares.length > 0 ? `; ${total.toFixed(1)} ms in kernels` : '. Kernels were not timed';
    this.#about.textContent = work ? `${facts.join(', ')}${time}.` : 'Not recorded.';
    this.#bars.replaceChildren(...shares.map((each) => drawShare(each, shares[0]?.ms ?? 1)));
  }
}
