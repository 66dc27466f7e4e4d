// The device card: the adapter, its limits, and its measured speeds.
import type { DeviceCard } from '../../src/index.ts';
import { element, make, megabytes, say } from '../shared/elements.ts';
import { withLavapipe } from '../shared/words.ts';
import { passChart } from './results/chart-specs.ts';
import { short } from './results/columns.ts';
import { deviceName } from './results/markdown.ts';

const LIMITS: Readonly<Record<string, readonly [label: string, show: (value: number) => string]>> = {
  maxBufferSize: ['Largest buffer', megabytes],
  maxStorageBufferBindingSize: ['Largest binding', megabytes],
  maxComputeWorkgroupStorageSize: ['Workgroup memory', (value) => `${value / 1024} KiB`],
  maxComputeInvocationsPerWorkgroup: ['Threads in a workgroup', String],
};

/** Optional features that the engine can use. */
const USEFUL = ['shader-f16', 'subgroups', 'timestamp-query'];

export class DeviceView {
  #card: DeviceCard | null = null;

  get card(): DeviceCard | null {
    return this.#card;
  }

  async show(card: DeviceCard): Promise<void> {
    this.#card = card;
    say('adapter', withLavapipe(deviceName(card)) || 'GPU without a name');
    say('bandwidth', short(card.bandwidth_gb_per_second));
    say('multiply-adds', short(card.multiply_add_gflops));
    const { passes } = card;
    const flatness = passes ? (passes.relative['8'] ?? 1).toFixed(2) : '–';
    say('flatness', flatness);
    say(
      'passes-about',
      passes
        ? `A pass of ${passes.model} over 8 rows takes ${flatness} times as long as over one. ` +
            `A round with 7 drafts is faster only if it commits more than ${flatness} tokens.`
        : 'No model is loaded, so no pass was timed.',
    );
    const features = USEFUL.map((name) => {
      const has = card.features.includes(name);
      const item = make('li', {}, `${has ? '✓' : '✗'} ${name}`);
      item.dataset.has = `${has}`;
      return item;
    });
    element('features', HTMLElement).replaceChildren(...features);
    const limits = Object.entries(card.limits).map(([name, value]) => {
      const [label, text] = LIMITS[name] ?? [name, String];
      return make('div', {}, make('dt', {}, label), make('dd', {}, text(value)));
    });
    element('limits', HTMLElement).replaceChildren(...limits);
    element('device', HTMLElement).dataset.measured = 'true';
    if (!passes) return;
    const { ChartView } = await import('../shared/chart.ts');
    const chart = new ChartView();
    chart.show(passChart(passes));
    element('pass-chart', HTMLElement).replaceChildren(chart.node);
  }
}
