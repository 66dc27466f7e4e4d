// The panel for a step router's run: a card for every step, accepted or escalated, with its score on a scale. A slider
// shows what another threshold would have decided on the same scores.
import type { EventOf, TraceEvent } from '../../src/trace/index.ts';
import { element, hold, make, release, say } from '../shared/elements.ts';
import { hinted } from '../shared/hints.ts';
import { rangeOf, type Step, StepReader, stepText, whatIf } from './steps.ts';

/** What the score of a step is called, by the role that gives it. */
export const SCORE_NAMES: Readonly<Record<string, string>> = {
  prm: 'Reward',
  router: 'Advantage',
  draft: 'Draft confidence',
};

/** Tooltips for the scores. */
const SCORES_ABOUT: Readonly<Record<string, string>> = {
  prm: 'How good the reward model finds the step, from 0 to 1',
  router: 'How likely the target would write a better step, as the router predicts',
  draft: 'How sure the draft model was of its own step',
};

/** Tooltips for the signals of SpecGuard. */
const LOGPROB = "Of the step's least certain token, as the draft gave it.";
const GROUNDING =
  'Of the least grounded token: the share of its attention that reaches the prompt and the steps before it.';

const milliseconds = (ms: number): string => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;

export const twoDigits = (value: number): string => value.toFixed(2);

/** The step was escalated, and the target wrote the same text. */
const agrees = ({ by, ms, draft, text }: Step): boolean =>
  by === 'target' && ms !== null && draft !== null && stepText(draft) === stepText(text);

/** The outcome of a step, as a sign and a word. */
const headingOf = (step: Step): string => {
  const { route, by, ms, draft } = step;
  if (agrees(step)) return '↑ asked the target: it agreed';
  if (by === 'target') return draft === null ? '→ target' : '↑ escalated';
  return ms === null && !route ? '… being judged' : '✓ accepted';
};

const factsOf = ({ route, tokens, ms, written }: Step): string =>
  [
    ms === null ? '' : `${tokens} tokens, ${milliseconds(ms)}`,
    route?.judge_ms === undefined ? '' : `judged in ${milliseconds(route.judge_ms)}`,
    ms !== null && written === 0 ? `${tokens} target tokens saved` : '',
  ]
    .filter(Boolean)
    .join(' · ');

/** The score and the threshold on a scale, and the reason in words. */
const scoreOf = ({ route }: Step, range: { min: number; max: number } | null): HTMLElement[] => {
  if (!route) return [];
  const { score, threshold, by, reason } = route;
  if (!range) return [make('small', { className: 'muted' }, reason)];
  const { min, max } = range;
  const scale = make('span', { className: 'score-scale' });
  const place = (value: number): string => `${(100 * (Math.min(max, Math.max(min, value)) - min)) / (max - min)}%`;
  scale.style.setProperty('--score', score === null ? '0%' : place(score));
  scale.style.setProperty('--threshold', place(threshold));
  const read = score === null ? 'no score' : twoDigits(score);
  const name = SCORE_NAMES[by] ?? by;
  const about = hinted(name, `${SCORES_ABOUT[by] ?? 'The score of the step'}.`);
  const compared = ` ${read}, threshold ${twoDigits(threshold)}: ${reason}`;
  return [scale, make('small', { className: 'muted' }, about, compared), ...signalsOf(route)];
};

/** What the score was computed from, where the draft's own signals decide. */
const signalsOf = ({ signals }: EventOf<'route'>): HTMLElement[] => {
  if (!signals) return [];
  const { logprob, grounding } = signals;
  const line = make(
    'small',
    { className: 'muted' },
    hinted('Least log-probability', LOGPROB),
    ` ${twoDigits(logprob)}`,
  );
  if (grounding !== null) line.append(', ', hinted('least grounding', GROUNDING), ` ${twoDigits(grounding)}`);
  return [line];
};

/** All candidates, where there are several, and which of them was judged. */
const candidatesOf = ({ candidates, route }: Step): HTMLElement[] => {
  if (candidates.length < 2) return [];
  const lines = candidates.map((text, i) =>
    i === route?.chosen ? make('li', {}, make('b', {}, 'judged: '), stepText(text)) : make('li', {}, stepText(text)),
  );
  return [make('details', {}, make('summary', {}, `${candidates.length} candidates`), make('ol', {}, ...lines))];
};

/** `cold`: the target has not written yet, so its shaders are compiled with its first step. */
const drawStep = (step: Step, range: { min: number; max: number } | null, cold: boolean): HTMLElement => {
  const state = step.by === 'target' ? 'escalated' : step.ms === null ? 'waiting' : 'accepted';
  const heading = make('strong', {}, `Step ${step.step} ${headingOf(step)}`);
  const head = make('p', { className: 'row between' }, heading, make('small', { className: 'muted' }, factsOf(step)));
  const { draft, by, text } = step;
  const escalated = by === 'target';
  const lines = [
    ...(draft === null || agrees(step) || (!escalated && text)
      ? []
      : [make(escalated ? 's' : 'p', { className: 'draft-step' }, stepText(draft))]),
    ...(text ? [make('p', { className: escalated ? 'target-step' : 'kept-step' }, stepText(text))] : []),
    ...(escalated && !text
      ? [make('p', { className: 'muted' }, `The target ${cold ? 'compiles its shaders, then ' : ''}writes this step …`)]
      : []),
  ];
  return make('li', { className: `step ${state}` }, head, ...lines, ...scoreOf(step, range), ...candidatesOf(step));
};

export class StepPanel {
  readonly #panel = element('steps', HTMLElement);
  readonly #list = element('step-list', HTMLOListElement);
  readonly #what = element('what-if', HTMLElement);
  readonly #slider = element('what-if-threshold', HTMLInputElement);
  #reader = new StepReader();
  #range = { min: 0, max: 1 };
  #cold = true;

  constructor() {
    this.#slider.addEventListener('input', () => this.#showWhatIf());
  }

  start(shown: boolean): void {
    hold(this.#panel, shown);
    say('steps-about', '');
    this.#reader = new StepReader();
    this.#range = { min: 0, max: 1 };
    this.#list.replaceChildren();
    this.#what.hidden = true;
  }

  add(event: TraceEvent): void {
    const step = this.#reader.add(event);
    if (event.type === 'run') element('steps-rule', HTMLElement).hidden = this.#reader.rule === null;
    if (!step) return;
    this.#draw(step);
    if (step.by === 'target' && step.text) this.#cold = false;
    say('steps-about', this.#summary());
  }

  /** The run is over: other thresholds can be tried on it. */
  finish(): void {
    release(this.#panel);
    const range = this.#reader.rule && rangeOf(this.#reader.steps);
    this.#what.hidden = range === null;
    if (!range) return;
    this.#range = range;
    Object.assign(this.#slider, { min: range.min, max: range.max, step: 0.01, value: range.threshold });
    this.#list.replaceChildren();
    for (const step of this.#reader.steps) this.#draw(step);
    this.#showWhatIf();
  }

  #draw(step: Step): void {
    const card = drawStep(step, this.#reader.rule && this.#range, this.#cold);
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
    return `${count}, ${escalated} escalated to the target; ${tokens} target tokens saved`;
  }

  #showWhatIf(): void {
    const threshold = this.#slider.valueAsNumber;
    const { steps, rule } = this.#reader;
    if (!rule) return;
    const { escalated, changed } = whatIf(rule, steps, threshold);
    const list = `${changed.length === 1 ? 'step' : 'steps'} ${changed.join(', ')}`;
    const decisions = changed.length === 0 ? 'every decision stays the same' : `${list} decided differently`;
    const first = changed[0];
    const estimate =
      first !== undefined && first < steps.length ? ` From step ${first} on, the text would differ: an estimate.` : '';
    const count = `${escalated} of ${steps.length} escalated`;
    say('what-if-about', `Threshold ${twoDigits(threshold)}: ${count}, ${decisions}.${estimate}`);
    for (const [i, card] of [...this.#list.children].entries())
      card.classList.toggle('changed', changed.includes(steps[i]?.step ?? 0));
  }
}
