// What the tour says, over a run that has just been made, live or recorded: every figure in it is that run's own.
import { fold, METRICS } from '../../src/trace/index.ts';
import type { Moment } from '../inspect/moments.ts';
import { finishOf } from '../run/finish.ts';
import type { Outcome } from '../run/outcome.ts';
import { visible } from '../run/rounds.ts';

/** What the page does for the tour. */
export interface TourHost {
  /** The chosen system against plain decoding, on a problem that is known to show what is told. */
  race(): Promise<{ readonly run: Outcome; readonly plain: Outcome } | null>;
  /** A step router on a problem with a step that its draft gets wrong. */
  route(): Promise<Outcome | null>;
  /** Opens Inspect on that run, at the first round that fits. */
  inspect(run: Outcome, fits: (moment: Moment) => boolean): Promise<Moment | null>;
  openRace(): void;
}

export interface Stop {
  readonly title: string;
  /** What is pointed at. */
  readonly at: string;
  /** While it is being done. */
  readonly waiting?: string;
  /** Does what is to be seen, and says what it is; null: it was stopped. */
  tell(host: TourHost): Promise<string | null>;
}

const rejectedIn = ({ pieces, path }: Moment): boolean => path.length > 1 && path.length < pieces.length;

const quote = (text: string): string => `“${visible(text).trim() || '␣'}”`;

const listed = (texts: readonly string[]): string =>
  texts.slice(0, 4).map(quote).join(' ') + (texts.length > 4 ? ' …' : '');

/** One tour: its stops share the runs. */
export const createTour = (): readonly Stop[] => {
  let raced: Awaited<ReturnType<TourHost['race']>> = null;
  const withRun = async (
    host: TourHost,
    fits: (moment: Moment) => boolean,
    say: (moment: Moment) => string,
  ): Promise<string | null> => {
    raced ??= await host.race();
    const moment = raced && (await host.inspect(raced.run, fits));
    return moment && say(moment);
  };
  return [
    {
      title: 'Two lanes, one prompt',
      at: '#lanes',
      waiting: 'The race is on: first the system by itself, then plain decoding beside it.',
      async tell(host) {
        host.openRace();
        raced ??= await host.race();
        if (!raced) return null;
        const passes = fold(METRICS.target_passes, raced.plain.events);
        return `Plain decoding, on one side, makes one pass of the target for each token: ${passes} passes, each of which reads all of its weights. The other side has the same target, and somebody who rides ahead of it.`;
      },
    },
    {
      title: 'Draft',
      at: '#round-tree',
      tell: (host) =>
        withRun(host, rejectedIn, ({ pieces, round }) => {
          const drafted = pieces.slice(1);
          return `Round ${round}, from the inside. Behind the last token that is certain, a small network has guessed ${drafted.length} tokens: ${listed(drafted)} That is the draft. Guessing is cheap, and nothing is decided yet.`;
        }),
    },
    {
      title: 'Verify',
      at: '.tokens',
      tell: (host) =>
        withRun(
          host,
          rejectedIn,
          ({ pieces }) =>
            `One pass of the target reads all ${pieces.length - 1} drafts at once, and says of each how probable it finds it in its place. A pass over many tokens takes hardly longer than over one: that is where the time is won.`,
        ),
    },
    {
      title: 'Accept',
      at: '#round-tree',
      tell: (host) =>
        withRun(host, rejectedIn, ({ path, pieces }) => {
          const kept = path.slice(1).map((node) => pieces[node] ?? '');
          const refused = pieces.length - path.length;
          return `The target accepts drafts from the left for as long as they are what it would have written: here ${kept.length}, ${listed(kept)} The ${refused} behind them are rejected: struck through, and no part of the answer.`;
        }),
    },
    {
      title: 'Corrected, or a bonus',
      at: '#inspect-text',
      tell: (host) =>
        withRun(host, rejectedIn, ({ committed, path }) => {
          const own = committed.at(-1);
          const kind = own?.source === 'bonus' ? 'a bonus' : 'the correction';
          return `The same pass also says what belongs in the place of the first draft that was refused: ${quote(own?.text ?? '')}, ${kind}, for free. So this round committed ${path.length} tokens for one pass of the target. Where all drafts are accepted the extra token is called a bonus.`;
        }),
    },
    {
      title: 'Speed-up',
      at: '#finish',
      async tell(host) {
        host.openRace();
        raced ??= await host.race();
        if (!raced) return null;
        const { run, plain } = raced;
        const { factor, facts } = finishOf(run, plain, { greedy: true, exact: true, baseline: 'autoregressive' });
        const same = `${run.tokens}` === `${plain.tokens}` ? 'the very same' : 'other';
        return `${facts[0]}: ${factor} as fast, with ${facts[1]}. Speed-up is the one time divided by the other; τ is how many tokens a round commits. And the words are ${same} ones: speculation changes when the target is asked, never what it answers.`;
      },
    },
    {
      title: 'Escalate',
      at: '.step.escalated',
      waiting: 'A step router now: its models are fetched when they are first used.',
      async tell(host) {
        host.openRace();
        const run = await host.route();
        if (!run) return null;
        const steps = fold(METRICS.steps, run.events);
        const escalated = fold(METRICS.escalated, run.events);
        return `Another way to save: the small model writes whole steps, and a judge scores each. ${steps - escalated} of ${steps} were good enough to stay; ${escalated === 0 ? 'none' : escalated} fell below the threshold and ${escalated === 1 ? 'was' : 'were'} escalated: the target wrote it anew. That may change the answer, so the page calls such systems approximate.`;
      },
    },
  ];
};
