// Everything that one run shows, from its events: answer, figures, strip, rounds, and when drafting was given up.
import { SYSTEMS } from '../src/index.ts';
import { committedTokens, type EventOf, fold, METRICS, type TraceEvent } from '../src/trace.ts';
import { AnswerView } from './answer.ts';
import { say } from './elements.ts';
import { createFigures } from './figures.ts';
import { paceSentence } from './pace.ts';
import type { Problem } from './problems.ts';
import { RoundPanel } from './round-panel.ts';
import { RoundReader } from './rounds.ts';
import { StepPanel } from './step-panel.ts';
import { Strip } from './strip.ts';
import { VotePanel } from './vote-panel.ts';

/** What is left of a run: enough to compare it with another. */
export interface Outcome {
  readonly system: string;
  readonly tokens: readonly number[];
  /** Tokens per second; null when there were too few to tell. */
  readonly rate: number | null;
  readonly complete: boolean;
  readonly events: readonly TraceEvent[];
}

const outcomeOf = (events: readonly TraceEvent[]): Outcome => {
  const run = events.find((event) => event.type === 'run');
  const done = events.at(-1);
  return {
    system: run?.system ?? '',
    tokens: committedTokens(events),
    rate: fold(METRICS.tokens_per_second, events),
    complete: done?.type === 'done' && done.finish_reason !== 'aborted',
    events,
  };
};

export class RunView {
  readonly #answer = new AnswerView();
  readonly #figures = createFigures();
  readonly #strip = new Strip();
  readonly #rounds = new RoundPanel();
  readonly #steps = new StepPanel();
  readonly #votes = new VotePanel();

  /** Consumes a run to its end; `problem` is what the answer is held against. */
  async show(events: AsyncIterable<TraceEvent>, problem: Problem | null): Promise<Outcome> {
    this.#answer.start();
    this.#strip.start(0);
    for (const figure of this.#figures) figure.start();
    let pace = '';
    say('pace', pace);
    const reader = new RoundReader();
    const seen: TraceEvent[] = [];
    let committed = 0;
    try {
      for await (const event of events) {
        seen.push(event);
        this.#strip.add(event);
        for (const figure of this.#figures) figure.add(event);
        if (event.type === 'queued') say('status', `Waiting for ${event.ahead} other run${event.ahead > 1 ? 's' : ''}`);
        if (event.type === 'run') this.#begin(event);
        this.#steps.add(event);
        this.#votes.add(event);
        if (event.type === 'fall-back' || event.type === 'block-size') pace = paceSentence(pace, event, committed + 1);
        say('pace', pace);
        if (event.type === 'done') this.#answer.end(event, problem);
        const round = reader.add(event);
        if (!round) continue;
        committed += round.committed.length;
        this.#answer.add(round);
        this.#rounds.add(round);
        for (const figure of this.#figures) figure.show();
      }
    } finally {
      this.#answer.rest();
      this.#rounds.rest();
      this.#steps.rest();
      this.#votes.rest();
    }
    return outcomeOf(seen);
  }

  #begin({ system, knobs }: EventOf<'run'>): void {
    this.#rounds.start(system !== 'autoregressive', knobs.shape === 'tree');
    const { guarantee, joins = false } = SYSTEMS.find(({ id }) => id === system) ?? {};
    this.#steps.start(system, guarantee === 'approximate');
    this.#votes.start(joins);
  }

  /** A run from before, in the second lane. */
  putBeside({ events }: Outcome): void {
    this.#strip.start(1);
    for (const event of events) this.#strip.add(event);
  }

  /** The same prompt, decoded plainly: a second lane, and nothing else that is there is touched. */
  async race(events: AsyncIterable<TraceEvent>, progress: (tokens: number) => void): Promise<Outcome> {
    this.#strip.start(1);
    const seen: TraceEvent[] = [];
    let committed = 0;
    for await (const event of events) {
      seen.push(event);
      this.#strip.add(event);
      if (event.type !== 'commit') continue;
      committed += event.tokens.length;
      progress(committed);
    }
    return outcomeOf(seen);
  }
}
