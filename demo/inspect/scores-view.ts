// A step router's scores against its threshold, a point a step: what stayed, and what was escalated.
import { JUDGES, number } from '../run/step-panel.ts';
import type { Step } from '../run/steps.ts';
import type { ChartView } from '../shared/chart.ts';
import { make } from '../shared/elements.ts';

const pointsOf = (steps: readonly Step[]) =>
  steps.flatMap(({ step, route, by }) =>
    route ? [{ x: step, y: route.score, name: `step ${step}, ${by === 'target' ? 'escalated' : 'accepted'}` }] : [],
  );

export class ScoresView {
  readonly #about = make('p', { className: 'muted', id: 'scores-about' });
  readonly #place = make('div');
  readonly node = make(
    'section',
    { className: 'scores', hidden: true },
    make('h3', {}, 'Scores'),
    this.#about,
    this.#place,
  );
  #chart: Promise<ChartView> | null = null;
  #steps: readonly Step[] = [];

  /** Nothing where no rule decided. */
  start(steps: readonly Step[]): void {
    this.#steps = steps.filter(({ route }) => route !== null);
    this.node.hidden = this.#steps.length === 0;
  }

  /** The step of the round that is looked at. */
  async show(step: number | null): Promise<void> {
    if (this.#steps.length === 0) return;
    const now = this.#steps.find((one) => one.step === step);
    const route = now?.route ?? this.#steps[0]?.route;
    if (!route) return;
    const judge = JUDGES[route.by] ?? 'Score';
    const decided = now?.route
      ? `Step ${now.step}: ${now.route.score === null ? 'no score' : number(now.route.score)}, ${now.by === 'target' ? 'escalated' : 'accepted'} (${now.route.reason}).`
      : `${judge} of each step, and the threshold that decides.`;
    this.#about.textContent = decided;
    this.#chart ??= import('../shared/chart.ts').then(({ ChartView }) => {
      const chart = new ChartView();
      this.#place.replaceChildren(chart.node);
      return chart;
    });
    const chart = await this.#chart;
    const points = pointsOf(this.#steps);
    const turned = this.#steps.map(({ by }) => by === 'target');
    const last = Math.max(...points.map(({ x }) => x));
    chart.show({
      title: `${judge} of each step against the threshold ${number(route.threshold)}`,
      x: { title: 'Step', min: 0.5, max: last + 0.5, whole: true },
      y: { title: judge },
      series: [
        {
          label: 'score',
          points,
          kind: 'both',
          colour: turned.map((by) => (by ? 'routed' : 'drafted')),
          signs: turned.map((by) => (by ? 'triangle' : 'circle')),
          sizes: this.#steps.map((one) => (one.step === step ? 10 : 6)),
        },
        {
          label: 'threshold',
          points: [0.5, last + 0.5].map((x) => ({ x, y: route.threshold })),
          kind: 'line',
          dashed: true,
          colour: 'muted',
        },
      ],
    });
  }
}
