// What toy models share as the models of one device do: tokens drawn and not yet looked at, the laws they were drawn
// from, and the count of looks. It refuses what a device could not do, or could only do wrong.
import { distributionReference, drawReference } from '../../kernels/sampling/sample.reference.ts';
import type { Choice, Drawn, HeldLaw, Sampling, Token } from '../../model/interface.ts';

interface Entry {
  readonly token: number;
  readonly logits: readonly number[];
  readonly law: readonly number[];
  /** A later pass was given it as its input. */
  handedOn: boolean;
}

/** log-probability at temperature 1, without filters. */
export const toyChoice = (logits: readonly number[], token: number): Choice => {
  const highest = Math.max(...logits);
  const sum = logits.reduce((total, x) => total + Math.exp(x - highest), 0);
  return { token, logprob: (logits[token] as number) - highest - Math.log(sum) };
};

export class ToyBoard {
  /** Of the round that is under way; so many were before it. */
  #entries: Entry[] = [];
  #over = 0;
  /** Readbacks so far: each ends a round, and what was held in it. */
  looks = 0;

  /** Draws the token at `position`; with the device's own noise, so that rows and passes do not matter. */
  draw(logits: readonly number[], position: number, sampling: Sampling, keepLaw: boolean): Drawn {
    const law = distributionReference(logits, sampling);
    const token = drawReference(law, position, sampling.seed);
    const held = this.#over + this.#entries.push({ token, logits, law, handedOn: false }) - 1;
    return {
      rows: 1,
      token: { held },
      law: keepLaw ? { law: held } : null,
      read: async () => {
        if (this.#entry(held).handedOn) throw new Error('toy board: a draft was read before the verdict on it');
        await this.look();
        return [toyChoice(logits, token)];
      },
    };
  }

  /** Draws of several passes in one look, which may be inputs of later ones. */
  async gather(draws: readonly Drawn[]): Promise<readonly Choice[]> {
    const choices = draws.map(({ token: { held } }) => {
      const { token, logits } = this.#entry(held);
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
    const entry = this.#entry(token.held);
    entry.handedOn = true;
    return entry.token;
  }

  /** What it was drawn with, at temperature 1 without filters. */
  probability(token: Token): number | null {
    if (typeof token === 'number') return null;
    const entry = this.#entry(token.held);
    return Math.exp(toyChoice(entry.logits, entry.token).logprob);
  }

  law({ law }: HeldLaw): readonly number[] {
    return this.#entry(law).law;
  }

  #entry(index: number): Entry {
    if (index < this.#over) throw new Error('toy board: held in a round that is over');
    const entry = this.#entries[index - this.#over];
    if (!entry) throw new Error(`toy board: nothing is held as ${index}`);
    return entry;
  }
}
