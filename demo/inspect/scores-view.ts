// A chart of a step router's scores against its threshold, one point for each step, accepted or escalated.
import { SCORE_NAMES, twoDigits } from '../run/step-panel.ts';
import type { Step } from '../run/steps.ts';
import type { ChartView } from '../shared/chart.ts';
import { make } from '../shared/elements.ts';

const outcomeOf = ({ by }: Pick<Step, 'by'>): string => (by === 'target' ? 'escalated' : 'accepted');

const pointsOf = (steps: readonly Step[]) =>
  steps.flatMap(({ step, route, by }) =>
    route ? [{ x: step, y: route.score, name: `step ${step}, ${outcomeOf({ by })}` }] : [],
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

  /** Hidden if no rule decided on the steps. */
  start(steps: readonly Step[]): void {
    this.#steps = steps.filter(({ route }) => route !== null);
    this.node.hidden = this.#steps.length === 0;
  }

  /** Marks the step of the shown round. */
  async show(step: number | null): Promise<void> {
    if (this.#steps.length === 0) return;
    const now = this.#steps.find((one) => one.step === step);
    const route = now?.route ?? this.#steps[0]?.route;
    if (!route) return;
    const judge = SCORE_NAMES[route.by] ?? 'Score';
    const score = now?.route?.score ?? null;
    const decided = now?.route
      ? `Step ${now.step}: ${score === null ? 'no score' : twoDigits(score)}, ${outcomeOf(now)} (${now.route.reason}).`
      : `${judge} of each step against the threshold. A step on the wrong side of it is escalated to the target.`;
    this.#about.textContent = decided;
    this.#chart ??= import('../shared/chart.ts').then(({ ChartView }) => {
      const chart = new ChartView();
      this.#place.replaceChildren(chart.node);
      return chart;
    });
    const chart = await this.#chart;
    const points = pointsOf(this.#steps);
    const escalated = this.#steps.map(({ by }) => by === 'target');
    const last = Math.max(...points.map(({ x }) => x));
    chart.show({
      title: `${judge} of each step against the threshold ${twoDigits(route.threshold)}`,
      x: { title: 'Step', min: 0.5, max: last + 0.5, whole: true },
      y: { title: judge },
      series: [
        {
          label: 'score',
          points,
          kind: 'both',
          colour: escalated.map((by) => (by ? 'routed' : 'drafted')),
          signs: escalated.map((by) => (by ? 'triangle' : 'circle')),
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
