// The stops of the tour. Each explains a run that has just been made, live or recorded, and takes its figures from that
// run.
import { fold, METRICS } from '../../src/trace/index.ts';
import { finishOf, type Terms } from '../run/finish.ts';
import type { Moment } from '../run/moments.ts';
import type { Outcome } from '../run/outcome.ts';
import { quoted } from '../run/rounds.ts';

/** What the page does for the tour. */
export interface TourHost {
  /** Races a speculative system against plain decoding, on a problem that shows a rejected draft. */
  race(): Promise<{ readonly run: Outcome; readonly plain: Outcome; readonly terms: Terms } | null>;
  /** Runs a step router on a problem with a step that the draft model gets wrong. */
  route(): Promise<Outcome | null>;
  /** Opens Inspect on that run, at the first round that fits. */
  inspect(run: Outcome, fits: (moment: Moment) => boolean): Promise<Moment | null>;
  openRace(): void;
}

export interface Stop {
  readonly title: string;
  /** Selector of the element that the stop points at. */
  readonly at: string;
  /** How much of a round is shown so far: its drafts; what the target gives; what it accepts. Default: all. */
  readonly reveals?: 'draft' | 'verify' | 'accept';
  /** Shown while the run is being made. */
  readonly waiting?: string;
  /** Makes the run, if needed, and returns the text of the stop; null if it was stopped. */
  explain(host: TourHost): Promise<string | null>;
}

const rejectedIn = ({ pieces, path }: Moment): boolean => path.length > 1 && path.length < pieces.length;

const listed = (texts: readonly string[]): string =>
  texts.slice(0, 4).map(quoted).join(' ') + (texts.length > 4 ? ' …' : '');

/** The stops of one tour, which share its runs. */
export const createTour = (): readonly Stop[] => {
  let raced: Awaited<ReturnType<TourHost['race']>> = null;
  const withRound = async (
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
      waiting: 'The race is running: first the chosen system alone, then plain decoding.',
      async explain(host) {
        host.openRace();
        raced ??= await host.race();
        if (!raced) return null;
        const passes = fold(METRICS.target_passes, raced.plain.events);
        return (
          'Both lanes answer with the same large model, the target. ' +
          'Plain decoding needs one pass of the target for each token: ' +
          `${passes} passes here, and each of them reads all its weights. ` +
          'The other lane lets a small network draft ahead.'
        );
      },
    },
    {
      title: 'Draft',
      reveals: 'draft',
      at: '#round-tree',
      explain: (host) =>
        withRound(host, rejectedIn, ({ pieces, round }) => {
          const drafted = pieces.slice(1);
          return (
            `This is round ${round}. After the last committed token, ` +
            `a small network has guessed ${drafted.length} tokens: ` +
            `${listed(drafted)} That is the draft. A guess is cheap, and nothing is decided yet.`
          );
        }),
    },
    {
      title: 'Verify',
      reveals: 'verify',
      at: '.tokens',
      explain: (host) =>
        withRound(
          host,
          rejectedIn,
          ({ pieces }) =>
            `One pass of the target reads all ${pieces.length - 1} drafts at once ` +
            'and gives the probability of each in its position. ' +
            'A pass over many tokens takes less time than a pass for each of them. ' +
            'That is where the time is saved.',
        ),
    },
    {
      title: 'Accept',
      reveals: 'accept',
      at: '#round-tree',
      explain: (host) =>
        withRound(host, rejectedIn, ({ path, pieces }) => {
          const kept = path.slice(1).map((node) => pieces[node] ?? '');
          const rejected = pieces.length - path.length;
          const after = rejected === 1 ? 'The one after them is' : `The ${rejected} after them are`;
          return (
            'The target accepts drafts from the left for as long as it would have written them itself: ' +
            `here ${kept.length}, ${listed(kept)} ${after} rejected. They are struck through and not part of the answer.`
          );
        }),
    },
    {
      title: 'Corrected, or a bonus',
      at: '#inspect-text',
      explain: (host) =>
        withRound(host, rejectedIn, ({ committed, path }) => {
          const own = committed.at(-1);
          const kind = own?.source === 'bonus' ? 'a bonus token' : 'a corrected token';
          return (
            'The same pass also gives the token that belongs in place of the first rejected draft: ' +
            `${quoted(own?.text ?? '')}, ${kind}, at no extra cost. ` +
            `So this round committed ${path.length} tokens for one pass of the target. ` +
            'When all drafts are accepted, the extra token is called a bonus token.'
          );
        }),
    },
    {
      title: 'Speed-up',
      at: '#finish',
      async explain(host) {
        host.openRace();
        raced ??= await host.race();
        if (!raced) return null;
        const { run, plain, terms } = raced;
        const { factor, sentence, passes } = finishOf([{ run, plain }], terms);
        return (
          `${factor === '–' ? '' : `${factor} `}${sentence} ${passes} ` +
          'Passes do not depend on the machine; the speed does. ' +
          'The acceptance length is the number of tokens committed per round. ' +
          'Speculation changes when the target runs, not what it answers.'
        );
      },
    },
    {
      title: 'Escalate',
      at: '.step.escalated',
      waiting: 'A step router runs next. Its models are loaded when they are first used.',
      async explain(host) {
        host.openRace();
        const run = await host.route();
        if (!run) return null;
        const steps = fold(METRICS.steps, run.events);
        const escalated = fold(METRICS.escalated, run.events);
        const were = escalated === 1 ? 'was' : 'were';
        const below = `${escalated === 0 ? 'None' : escalated} fell below the threshold and ${were} escalated`;
        return (
          'A step router lets the draft model write whole steps, and a judge scores each. ' +
          `${steps - escalated} of ${steps} steps were kept. ` +
          `${below}: the target wrote ${escalated === 1 ? 'it' : 'them'} instead. ` +
          'That can change the answer, so such systems are called approximate.'
        );
      },
    },
  ];
};
