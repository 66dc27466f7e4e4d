// An answer under way: what of it outlives a lost device. Committed tokens, text and round numbers stay; on the next device
// the system goes on from them. Where a token depends on its position alone, the system reads prompt and answer and continues.
// Where it also depends on where rounds begin (drafts kept with probability p/q, steps, votes), the system writes the answer
// again, silently, up to where it was: the seed is the same, so the tokens are.
import { OutriderError } from '../base/errors.ts';
import { type Commit, type DecodingSystem, drawsFromTarget } from '../decode/core/system.ts';
import { type Kept, Transcript } from '../decode/core/transcript.ts';
import type { Emit, EventOf, TraceEvent } from '../trace/index.ts';
import type { Job } from './job.ts';

/** What a system is started with, on the first device or a later one. */
interface Begun {
  /** Prompt and committed tokens, extended by `take`. */
  readonly tokens: readonly number[];
  /** Tokens of the prompt, and of the longest answer. */
  readonly rows: number;
  readonly emit: Emit;
}

/** Whether every token is a function of the text before it, the seed and the position. */
const dependsOnTextAlone = (system: DecodingSystem, temperature: number): boolean =>
  system.guarantee === 'exact' &&
  drawsFromTarget(system) &&
  (temperature === 0 || system.variants?.every(({ drawn }) => !drawn) === true);

/** The tokens of a commit from this one on. */
const from = ({ tokens, source, scores, by, votes, ...rest }: Commit, first: number): Commit => ({
  ...rest,
  tokens: tokens.slice(first),
  source: source.slice(first),
  scores: scores?.slice(first) ?? null,
  ...(by && { by: by.slice(first) }),
  ...(votes && { votes: votes.slice(first) }),
});

export class Answer {
  readonly transcript: Transcript;
  /** Of the round under way; 0 is the first token, drawn from the prompt's last row. */
  round = 0;
  readonly #clock: () => number;
  readonly #withLogprobs: boolean;
  readonly #committed: number[] = [];
  #tokens: number[] = [];
  /** Told to the caller at the end of the round. */
  #events: TraceEvent[] = [];
  /** The system starts on a later device. */
  #starting = false;
  /** Tokens of the steps that were told. */
  #inSteps = 0;
  /** Tokens of the steps that the system has written on this device. */
  #written = 0;
  /** Committed tokens that are to be written again. */
  #again: readonly number[] = [];

  constructor({ limits, tokenizer, logprobs, marks, prompt, question, begin }: Job, clock: () => number) {
    // After a chat template, or a special token, a text begins.
    const continues = question === null || begin !== '';
    const within = continues && (tokenizer?.bytes(prompt.at(-1) as number).length ?? 0) > 0;
    this.transcript = new Transcript(limits, tokenizer, new Set(marks.values()), within);
    this.#clock = clock;
    this.#withLogprobs = logprobs !== null;
  }

  /** Before the system starts; `started` is called when it has. */
  begin({ system, prompt, sampling, limits, constraint, reasoning }: Job): Begun {
    const committed = [...this.#committed];
    const fromText = constraint !== null || reasoning !== null || dependsOnTextAlone(system, sampling.temperature);
    this.#starting = committed.length > 0;
    this.#again = fromText ? [] : committed;
    this.#tokens = [...prompt, ...(fromText ? committed : [])];
    if (!fromText) this.round = 0;
    this.#written = 0;
    return { tokens: this.#tokens, rows: prompt.length + limits.maxTokens, emit: (event) => this.#emit(event) };
  }

  started(): void {
    this.#starting = false;
  }

  /** Adds what a round committed. False: it was written again, and the caller knows it already. */
  take(round: Commit, began: number): boolean {
    const again = this.#again.length > 0;
    const commit = again ? this.#takeAgain(round) : round;
    if (again && commit.tokens.length === 0) return false;
    const kept: Kept = this.transcript.take(commit, this.#withLogprobs);
    this.#tokens.push(...kept.tokens);
    this.#committed.push(...kept.tokens);
    if (this.transcript.ending && commit.unfinished) this.#emit(commit.unfinished);
    this.#endSteps();
    this.#emit({ type: 'commit', round: this.round, ...kept, ms: this.#clock() - began });
    return true;
  }

  /** Steps are told before the transcript finds a stop string in them: they end with the answer. */
  #endSteps(): void {
    this.#events = this.#events.flatMap((event) => (event.type === 'step' ? this.#untilEnd(event) : event));
  }

  /** None where the answer ended before it. */
  #untilEnd(step: EventOf<'step'>): EventOf<'step'> | [] {
    const tokens = Math.min(step.tokens, this.#committed.length - this.#inSteps);
    this.#inSteps += tokens;
    if (tokens === step.tokens) return step;
    if (tokens === 0) return [];
    const written = step.written ?? (step.by === 'target' ? step.tokens : undefined);
    return {
      ...step,
      tokens,
      ...(step.ids && { ids: step.ids.slice(0, tokens) }),
      ...(step.pieces && { pieces: step.pieces.slice(0, tokens) }),
      ends: 'stop',
      ...(written !== undefined && { written }), // what the target wrote counts, kept or not
    };
  }

  /** The events since the last call. */
  told(): TraceEvent[] {
    return this.#events.splice(0);
  }

  /** The device failed: the events of rounds that were committed stay, those of the round under way go. */
  interrupted(): TraceEvent[] {
    const end = this.#events.findLastIndex(({ type }) => type === 'commit') + 1;
    if (end > 0) this.round++;
    const told = this.#events.slice(0, end);
    this.#events = [];
    return told;
  }

  /** The committed tokens, without the prompt. */
  get tokens(): readonly number[] {
    return this.#committed;
  }

  /** `constraint`: what became of it, where there is one. */
  end(constraint?: EventOf<'done'>['constraint']): TraceEvent[] {
    const { finish_reason, stop } = this.transcript.ending ?? { finish_reason: 'aborted', stop: null };
    this.#starting = false;
    this.#again = []; // where it was aborted on a later device
    this.#emit({ type: 'done', finish_reason, stop, text: this.transcript.end(), ...(constraint && { constraint }) });
    return this.told();
  }

  /**
   * Compares a round with what was written before the loss, and returns the tokens after that. A round may reach beyond it,
   * because block sizes and falling back depend on time.
   */
  #takeAgain(round: Commit): Commit {
    const known = this.#again.slice(0, round.tokens.length);
    if (known.some((token, i) => token !== round.tokens[i]))
      throw new OutriderError(
        'device-lost',
        'the GPU device was lost, and on the next one the answer begins differently, so it cannot go on',
        'Ask again. A judge or a target on another machine may answer differently each time.',
      );
    this.#tokens.push(...known);
    this.#again = this.#again.slice(known.length);
    return from(round, known.length);
  }

  #emit(event: Parameters<Emit>[0]): void {
    if (event.type === 'step') this.#written += event.tokens;
    // What is written again is known, but for a step that ends beyond it.
    const known = this.#again.length > 0 && !(event.type === 'step' && this.#written > this.#inSteps);
    if (this.#starting || known) return;
    this.#events.push({ at: this.#clock(), ...event, ...this.transcript.tokenText(event) } as TraceEvent);
  }
}
