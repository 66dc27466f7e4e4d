// A run of a step router: a card for every step, kept or escalated, with its score on a gauge; and a slider that asks what
// another threshold would have decided on the same scores.
import type { TraceEvent } from '../../src/trace/index.ts';
import { element, hold, release, say } from '../shared/elements.ts';
import { hasThreshold, legible, rangeOf, type Step, StepReader, whatIf } from './steps.ts';

export const JUDGES: Readonly<Record<string, string>> = {
  prm: 'Reward',
  router: 'Advantage',
  draft: "Draft's own signals",
};

const node = (tag: string, className: string, text = ''): HTMLElement =>
  Object.assign(document.createElement(tag), { className, textContent: text });

const milliseconds = (ms: number): string => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;

export const number = (value: number): string => value.toFixed(2);

/** What became of a step, in a word and a sign. */
const headingOf = ({ route, by, ms, draft }: Step): string => {
  if (by === 'target') return draft === null ? '→ target' : '↑ escalated';
  return ms === null && !route ? '… being judged' : '✓ accepted';
};

const factsOf = ({ route, candidates, tokens, ms, written }: Step): string =>
  [
    ms === null ? '' : `${tokens} tokens, ${milliseconds(ms)}`,
    candidates > 1 ? `${candidates} candidates` : '',
    route?.judge_ms === undefined ? '' : `judged in ${milliseconds(route.judge_ms)}`,
    ms !== null && written === 0 ? `${tokens} target tokens saved` : '',
  ]
    .filter(Boolean)
    .join(' · ');

const gaugeOf = ({ route }: Step, range: { min: number; max: number } | null): HTMLElement[] => {
  if (!route) return [];
  const { score, threshold, by, reason } = route;
  if (!range) return [node('small', 'muted', reason)];
  const { min, max } = range;
  const meter = node('span', 'gauge');
  const place = (value: number): string => `${(100 * (Math.min(max, Math.max(min, value)) - min)) / (max - min)}%`;
  meter.style.setProperty('--score', score === null ? '0%' : place(score));
  meter.style.setProperty('--threshold', place(threshold));
  const read = score === null ? 'no score' : number(score);
  const name = JUDGES[by] ?? by;
  return [meter, node('small', 'muted', `${name} ${read}, threshold ${number(threshold)}: ${reason}`)];
};

/** `cold`: the target has written nothing yet, so its passes are compiled with the first step that is asked of it. */
const drawStep = (step: Step, range: { min: number; max: number } | null, cold: boolean): HTMLElement => {
  const card = node('li', `step ${step.by === 'target' ? 'escalated' : step.ms === null ? 'waiting' : 'accepted'}`);
  const head = node('p', 'row between');
  head.append(node('strong', '', `Step ${step.step} ${headingOf(step)}`), node('small', 'muted', factsOf(step)));
  const { draft, by, text } = step;
  const escalated = by === 'target';
  const lines = [
    ...(draft === null || (!escalated && text) ? [] : [node(escalated ? 's' : 'p', 'draft-step', legible(draft))]),
    ...(text ? [node('p', escalated ? 'target-step' : 'kept-step', legible(text))] : []),
    ...(escalated && !text
      ? [node('p', 'muted', `The target ${cold ? 'compiles its shaders, then ' : ''}writes it …`)]
      : []),
  ];
  card.append(head, ...lines, ...gaugeOf(step, range));
  return card;
};

export class StepPanel {
  readonly #panel = element('steps', HTMLElement);
  readonly #list = element('step-list', HTMLOListElement);
  readonly #what = element('what-if', HTMLElement);
  readonly #slider = element('what-if-threshold', HTMLInputElement);
  #reader = new StepReader();
  #system = '';
  #range = { min: 0, max: 1 };
  #cold = true;

  constructor() {
    this.#slider.addEventListener('input', () => this.#ask());
  }

  start(system: string, shown: boolean): void {
    hold(this.#panel, shown);
    say('steps-about', '');
    this.#system = system;
    this.#reader = new StepReader();
    this.#range = { min: 0, max: 1 };
    this.#list.replaceChildren();
    this.#what.hidden = true;
  }

  add(event: TraceEvent): void {
    const step = this.#reader.add(event);
    if (!step) return;
    this.#draw(step);
    if (step.by === 'target' && step.text) this.#cold = false;
    say('steps-about', this.#summary());
  }

  /** The run is over: now other thresholds can be tried on it. */
  rest(): void {
    release(this.#panel);
    const range = hasThreshold(this.#system) ? rangeOf(this.#reader.steps) : null;
    this.#what.hidden = range === null;
    if (!range) return;
    this.#range = range;
    Object.assign(this.#slider, { min: range.min, max: range.max, step: 0.01, value: range.threshold });
    this.#list.replaceChildren();
    for (const step of this.#reader.steps) this.#draw(step);
    this.#ask();
  }

  #draw(step: Step): void {
    const card = drawStep(step, hasThreshold(this.#system) ? this.#range : null, this.#cold);
    const there = this.#list.children[step.step - 1];
    if (there) there.replaceWith(card);
    else this.#list.append(card);
  }

  #summary(): string {
    const { steps } = this.#reader;
    const escalated = steps.filter(({ by, draft }) => by === 'target' && draft !== null).length;
    const saved = steps.filter(({ written, ms }) => ms !== null && written === 0);
    const tokens = saved.reduce((sum, step) => sum + step.tokens, 0);
    const count = steps.length === 1 ? 'One step' : `${steps.length} steps`;
    return `${count}, ${escalated} escalated; ${tokens} tokens that the target did not have to write`;
  }

  #ask(): void {
    const threshold = this.#slider.valueAsNumber;
    const { steps } = this.#reader;
    const { escalated, changed } = whatIf(this.#system, steps, threshold);
    const turned = changed.length === 0 ? 'nothing changes' : `other way: step ${changed.join(', ')}`;
    const first = changed[0];
    const estimate =
      first !== undefined && first < steps.length ? '; behind the first of them the text would differ' : '';
    say('what-if-about', `At ${number(threshold)}: ${escalated} of ${steps.length} escalated, ${turned}${estimate}.`);
    for (const [i, card] of [...this.#list.children].entries())
      card.classList.toggle('turned', changed.includes(steps[i]?.step ?? 0));
  }
}
