// Charts: Chart.js in the page's colours, with a hidden table of the same numbers for screen readers. Imported on
// demand, because Chart.js is large and no first answer needs it.
import {
  CategoryScale,
  Chart,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  ScatterController,
  Tooltip,
} from 'chart.js';
import { make } from './elements.ts';
import { wantsStillness } from './stillness.ts';

Chart.register(
  CategoryScale,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  ScatterController,
  Tooltip,
);

export interface Point {
  readonly x: number;
  /** Null: a gap. */
  readonly y: number | null;
  /** Name in the tooltip and the table; default: its x. */
  readonly name?: string;
}

export interface Series {
  readonly label: string;
  readonly points: readonly Point[];
  /** Name of a colour in colours.css, such as `drafted`; one for all points, or one for each. */
  readonly colour: string | readonly string[];
  /** Points alone, a line alone, or both. */
  readonly kind: 'points' | 'line' | 'both';
  /** A sign for each point, because colour alone is not accessible. */
  readonly signs?: readonly ('circle' | 'triangle' | 'rect' | 'rectRot' | 'cross' | 'star')[];
  readonly dashed?: boolean;
  /** Size of each point. */
  readonly sizes?: readonly number[];
}

export interface Axis {
  readonly title: string;
  readonly min?: number;
  readonly max?: number;
  /** Whole numbers only. */
  readonly whole?: boolean;
}

export interface ChartSpec {
  /** A sentence. */
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const datasetOf = ({ label, points, colour: names, kind, signs, dashed, sizes }: Series) => {
  const colours = [names].flat().map(colour);
  return {
    label,
    data: points.map(({ x, y }) => ({ x, y: y ?? Number.NaN })),
    showLine: kind !== 'points',
    borderColor: colours[0] ?? '',
    backgroundColor: colours,
    pointBackgroundColor: colours,
    pointBorderColor: colours,
    pointStyle: signs ? [...signs] : ('circle' as const),
    pointRadius: kind === 'line' ? 0 : sizes ? [...sizes] : 5,
    pointHoverRadius: kind === 'line' ? 0 : 7,
    borderWidth: 2,
    clip: 12, // a sign at the end of an axis is drawn whole
    ...(dashed && { borderDash: [6, 4] }),
  };
};

/** Labels whole numbers only: an axis may end between two of them. */
const WHOLE = { precision: 0, callback: (value: number | string) => (Number.isInteger(Number(value)) ? value : '') };

const axisOf = ({ title, min, max, whole }: Axis) => ({
  type: 'linear' as const,
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
  title: { display: true, text: title, color: colour('muted') },
  ticks: { color: colour('muted'), ...(whole && WHOLE) },
  grid: { color: colour('line') },
  border: { color: colour('line') },
});

/** The numbers of the chart as a table, for screen readers. */
const tableOf = ({ title, x, series }: ChartSpec): HTMLTableElement => {
  const rows = series.flatMap(({ label, points }) =>
    points.map(({ x: at, y, name }) =>
      make(
        'tr',
        {},
        make('th', { scope: 'row' }, `${label}, ${name ?? `${x.title} ${at}`}`),
        make('td', {}, `${y ?? '–'}`),
      ),
    ),
  );
  return make('table', {}, make('caption', {}, title), make('tbody', {}, ...rows));
};

export class ChartView {
  readonly #canvas = make('canvas', { ariaHidden: 'true' });
  /** Hides the table: a table itself ignores a width smaller than its text. */
  readonly #table = make('div', { className: 'hidden' });
  /** The style sheet sets its height: `.chart`. */
  readonly node = make(
    'div',
    { className: 'chart' },
    make('div', { className: 'chart-area' }, this.#canvas),
    this.#table,
  );
  #chart: Chart<'scatter'> | null = null;
  #spec: ChartSpec | null = null;

  constructor() {
    new MutationObserver(() => this.#draw()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }

  show(spec: ChartSpec): void {
    this.#spec = spec;
    this.#table.replaceChildren(tableOf(spec));
    this.#draw();
  }

  #draw(): void {
    const spec = this.#spec;
    if (!spec) return;
    const datasets = spec.series.map(datasetOf);
    const options = {
      animation: wantsStillness() || this.#chart !== null ? (false as const) : { duration: 300 },
      maintainAspectRatio: false,
      scales: { x: axisOf(spec.x), y: axisOf(spec.y) },
      plugins: {
        legend: {
          display: spec.series.length > 1,
          labels: { color: colour('ink'), usePointStyle: true, boxHeight: 7 },
        },
        tooltip: {
          callbacks: {
            label: ({ datasetIndex, dataIndex }: { datasetIndex: number; dataIndex: number }) => {
              const { label = '', points = [] } = spec.series[datasetIndex] ?? {};
              const { x, y, name } = points[dataIndex] ?? {};
              return `${label}, ${name ?? `${spec.x.title} ${x}`}: ${y}`;
            },
          },
        },
      },
    };
    if (this.#chart) Object.assign(this.#chart, { options, data: { datasets } });
    else this.#chart = new Chart(this.#canvas, { type: 'scatter', data: { datasets }, options });
    this.#chart.update('none');
  }
}
