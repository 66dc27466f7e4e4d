// What toy models share, as the models of one device do: tokens that were drawn and not yet read, the distributions
// they were drawn from, and the number of readbacks. It refuses what a device could not do, or would do wrong.
import { distributionReference, drawReference } from '../../kernels/sampling/sample.reference.ts';
import type { Choice, DeviceDistribution, Drawn, Sampling, Token } from '../../model/interface.ts';

interface Entry {
  readonly token: number;
  readonly logits: readonly number[];
  readonly distribution: readonly number[];
  /** A later pass was given it as its input. */
  handedOn: boolean;
}

/** log-probability at temperature 1, without filters. */
export const toyChoice = (logits: readonly number[], token: number): Choice => {
  const highest = Math.max(...logits);
  const sum = logits.reduce((total, x) => total + Math.exp(x - highest), 0);
  return { token, logprob: (logits[token] as number) - highest - Math.log(sum) };
};

export class ToyTokenRing {
  /** Of the round that is under way; so many were before it. */
  #entries: Entry[] = [];
  #over = 0;
  #reading: Promise<void> | null = null;
  /** Readbacks so far: each ends a round, and the tokens and distributions of that round. */
  looks = 0;

  /** Draws the token at `position`; with the device's own noise, so that rows and passes do not matter. */
  draw(logits: readonly number[], position: number, sampling: Sampling, keepDistribution: boolean): Drawn {
    const distribution = distributionReference(logits, sampling);
    const token = drawReference(distribution, position, sampling.seed);
    const ringEntry = this.#over + this.#entries.push({ token, logits, distribution, handedOn: false }) - 1;
    return {
      rows: 1,
      token: { record: () => ringEntry },
      distribution: keepDistribution ? { distribution: ringEntry } : null,
      read: async () => {
        if (this.#entry(ringEntry).handedOn)
          throw new Error('toy token ring: a draft was read before the verdict on it');
        // Draws that are read at once come in one readback, as those of one pass on the device.
        this.#reading ??= Promise.resolve().then(() => {
          this.#reading = null;
          return this.look();
        });
        await this.#reading;
        return [toyChoice(logits, token)];
      },
    };
  }

  /** Draws of several passes in one look, which may be inputs of later ones. */
  async gather(draws: readonly Drawn[]): Promise<readonly Choice[]> {
    const choices = draws.map((drawn) => {
      const { token, logits } = this.#entry(drawn.token.record());
      return toyChoice(logits, token);
    });
    await this.look();
    return choices;
  }

  /** A readback lets other events in, as a device's does. */
  async look(): Promise<void> {
    this.looks++;
    this.#over += this.#entries.length;
    this.#entries = [];
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The token as a pass reads it. */
  take(token: Token): number {
    if (typeof token === 'number') return token;
    const entry = this.#entry(token.record());
    entry.handedOn = true;
    return entry.token;
  }

  /** What it was drawn with, at temperature 1 without filters. */
  probability(token: Token): number | null {
    if (typeof token === 'number') return null;
    const entry = this.#entry(token.record());
    return Math.exp(toyChoice(entry.logits, entry.token).logprob);
  }

  distribution({ distribution }: DeviceDistribution): readonly number[] {
    return this.#entry(distribution).distribution;
  }

  #entry(index: number): Entry {
    if (index < this.#over) throw new Error('toy token ring: a token of a round that is over');
    const entry = this.#entries[index - this.#over];
    if (!entry) throw new Error(`toy token ring: there is no entry ${index}`);
    return entry;
  }
}
