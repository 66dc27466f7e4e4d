// Shows one run from its trace events alone, live or recorded: the text as it becomes certain, the readouts, the strip,
// and at the end whether the answer is right. Every figure is a fold of src/trace.ts.
import { METRICS, type Metric, type TraceEvent } from '../src/trace.ts';
import { element, say } from './elements.ts';
import { finalNumber, type Problem } from './problems.ts';
import { Strip } from './strip.ts';

class Fold<State, Value> {
  readonly #metric: Metric<State, Value>;
  #state: State;

  constructor(metric: Metric<State, Value>) {
    this.#metric = metric;
    this.#state = metric.start;
  }

  add(event: TraceEvent): Value {
    this.#state = this.#metric.add(this.#state, event);
    return this.#metric.value(this.#state);
  }
}

const REASONS = { stop: 'finished', length: 'reached the token limit', aborted: 'was stopped' } as const;

export class AnswerView {
  readonly #box = element('answer', HTMLElement);
  readonly #verdict = element('verdict', HTMLElement);
  readonly #strip = new Strip();
  #text = document.createTextNode('');

  /** Consumes a run to its end; `problem` is what the answer is held against. */
  async show(events: AsyncIterable<TraceEvent>, problem: Problem | null): Promise<void> {
    this.#clear();
    const speed = new Fold(METRICS.tokens_per_second);
    const tokens = new Fold(METRICS.tokens);
    let committed = 0;
    try {
      for await (const event of events) {
        const rate = speed.add(event);
        const count = tokens.add(event);
        if (event.type === 'queued') say('status', `Waiting for ${event.ahead} other run${event.ahead > 1 ? 's' : ''}`);
        if (event.type === 'commit') {
          if (event.round === 0 || count === event.tokens.length) say('first', `${Math.round(event.at)} ms`);
          committed = event.tokens.length;
          this.#append(event.text ?? event.tokens.map((token) => `${token} `).join(''));
          this.#strip.add(event.at, event.source);
          say('count', `${count}`);
          if (rate !== null) say('speed', rate.toFixed(rate < 9.95 ? 1 : 0));
        }
        if (event.type === 'kernels' && event.round > 0)
          say('dispatches', `${Math.round(event.dispatches / Math.max(committed, 1))}`);
        if (event.type === 'done') this.#end(event.finish_reason, problem);
      }
    } finally {
      this.#box.ariaBusy = 'false';
    }
  }

  #clear(): void {
    this.#text = document.createTextNode('');
    this.#box.replaceChildren(this.#text);
    this.#box.ariaBusy = 'true';
    this.#verdict.textContent = '';
    delete this.#verdict.dataset.right;
    this.#strip.clear();
    for (const id of ['speed', 'first', 'count', 'dispatches']) say(id, '–');
    say('status', 'Answering');
  }

  #append(text: string): void {
    const box = this.#box;
    const following = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
    this.#text.appendData(text);
    if (following) box.scrollTop = box.scrollHeight;
  }

  #end(reason: keyof typeof REASONS, problem: Problem | null): void {
    const given = finalNumber(this.#text.data);
    let verdict = '';
    if (reason !== 'stop') verdict = `The answer ${REASONS[reason]}`;
    else if (problem) {
      const right = given === problem.result;
      this.#verdict.dataset.right = `${right}`;
      verdict = right ? `✓ Right: ${given}` : `✗ Wrong: the true answer is ${problem.result}`;
    }
    this.#verdict.textContent = verdict;
    say('status', `The answer ${REASONS[reason]}. ${verdict}. ${this.#text.data}`);
  }
}
