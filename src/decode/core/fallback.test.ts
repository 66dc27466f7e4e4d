// Off when losing, on a simulated clock: what hopeless text costs, that good text is never given up for a run of bad
// luck, and that a clock decides nothing where drafts are drawn.
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../trace/index.ts';
import { Fallback } from './fallback.ts';
import { assumedCost, type Cost, measuredCost, type RoundKind } from './round-cost.ts';
import { Timings } from './timings.ts';

const KIND: RoundKind = { nodes: 8, passes: 1 };

interface Simulated {
  readonly ms: number;
  readonly speculative: number;
  readonly events: readonly Omit<EventOf<'fall-back'>, 'at'>[];
}

interface Clock {
  readonly plain: number;
  readonly round: number;
}

/** A run of `tokens`: rounds of `round` ms that commit what `accept` says, plain ones of `plain` ms. */
const simulate = (
  tokens: number,
  accept: (round: number, committed: number) => number,
  { plain, round: cost }: Clock,
  {
    timings = warm({ plain, round: cost }),
    costs = measuredCost(timings),
    byClock = true,
    fallBack = true,
  }: Partial<{
    timings: Timings;
    costs: Cost;
    byClock: boolean;
    fallBack: boolean;
  }> = {},
): Simulated => {
  const events: Omit<EventOf<'fall-back'>, 'at'>[] = [];
  const emit = (event: unknown) => events.push(event as Omit<EventOf<'fall-back'>, 'at'>);
  const fallback = new Fallback({ sources: ['dflash'], timings, cost: costs, byClock, emit, fallBack });
  let [ms, committed, speculative] = [0, 0, 0];
  for (let round = 1; committed < tokens; round++) {
    if (fallback.next(round).length > 0) {
      const kept = accept(round, committed);
      fallback.speculative(round, { source: 'dflash', kind: KIND, ms: cost, tokens: kept });
      [ms, committed, speculative] = [ms + cost, committed + kept, speculative + 1];
    } else {
      fallback.plain(round, plain);
      [ms, committed] = [ms + plain, committed + 1];
    }
  }
  return { ms, speculative, events };
};

/** As after earlier runs on these models. */
const warm = ({ plain, round }: Clock): Timings => {
  const timings = new Timings();
  for (let i = 0; i < 9; i++) {
    timings.addPlain(plain);
    timings.addRound(`${KIND.passes}+${KIND.nodes}`, round);
  }
  return timings;
};

/** The same numbers on every run, from 0 to 1. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

describe('off when losing', () => {
  it.each([
    { plain: 3, round: 5 },
    { plain: 3, round: 8.1 },
    { plain: 12, round: 30 },
    { plain: 65, round: 180 },
  ])('text on which nothing is accepted costs at most 3 %% over plain: %j', (clock) => {
    for (const tokens of [200, 400, 1000]) {
      const { ms, events } = simulate(tokens, () => 1, clock);
      expect(ms / (tokens * clock.plain)).toBeLessThanOrEqual(1.03);
      expect(events[0]).toMatchObject({ to: 'plain', speculative_ms: clock.round, plain_ms: clock.plain });
    }
  });

  it('settles the rounds whose cost it had to learn first', () => {
    const clock = { plain: 3, round: 8 };
    const timings = new Timings();
    for (let i = 0; i < 3; i++) timings.addPlain(clock.plain);
    // The round that warms up, and four until the cost is believed: then it knows at once that they lost.
    expect(simulate(600, () => 1, clock, { timings }).speculative).toBe(5);
  });

  it('tries again, and stays where the text has turned', () => {
    const clock = { plain: 3, round: 8 };
    const { events, speculative } = simulate(2000, (_, committed) => (committed < 300 ? 1 : 6), clock);
    expect(events.map(({ to }) => to).slice(-1)).toEqual(['speculation']);
    expect(speculative).toBeGreaterThan(150);
  });

  it('never gives up good text for a run of bad luck', () => {
    const next = random(5);
    // Five tokens a round on average, and one round in eight commits a single one.
    const luck = () => (next() < 0.125 ? 1 : 2 + Math.floor(next() * 7.9));
    const { events } = simulate(5000, luck, { plain: 3, round: 6 });
    expect(events).toEqual([]);
  });

  it('does not take the machine’s speed for the price of a round', () => {
    const clock = { plain: 3, round: 8 };
    const timings = warm(clock);
    for (let i = 0; i < 3; i++) timings.addPlain(2 * clock.plain); // everything takes twice as long now
    const slow = { plain: 6, round: 16 };
    const { ms } = simulate(400, () => 2, slow, { timings });
    expect(ms / (400 * slow.plain)).toBeLessThanOrEqual(1.03);
  });

  it('does not fall back because plain rounds were timed in a fast moment', () => {
    const clock = { plain: 3, round: 5.4 };
    const timings = warm({ plain: 2, round: 5.4 });
    const { ms, speculative, events } = simulate(400, () => 2, clock, { timings });
    expect(events).toEqual([]);
    expect(speculative).toBeGreaterThan(150);
    expect(ms / (400 * clock.plain)).toBeLessThan(0.95);
  });

  it('times plain rounds by passes of one row too, and none for its own sake where there are enough', () => {
    const timings = warm({ plain: 2, round: 5.4 });
    const cost = measuredCost(timings);
    const fallback = new Fallback({
      sources: ['eagle3'],
      timings,
      cost,
      byClock: true,
      emit: () => {},
      fallBack: true,
    });
    const source = 'eagle3';
    for (let round = 1; round < 100; round++) {
      expect(fallback.next(round)).toEqual([source]);
      if (round % 4 > 0) fallback.speculative(round, { source, kind: KIND, ms: 5.4, tokens: 3 });
      else fallback.speculative(round, { source, kind: { nodes: 1, passes: 1 }, ms: 3.2, tokens: 1, single: 3 });
    }
    expect(timings.plain).toBe(3);
    expect(timings.cost('1+8')).toBeCloseTo(1.8);
  });

  it('pauses the source that loses, and not the one that gains', () => {
    const timings = warm({ plain: 3, round: 9 });
    const events: unknown[] = [];
    const emit = (event: unknown) => events.push(event);
    const sources = ['lookup', 'eagle3'] as const;
    const cost = measuredCost(timings);
    const fallback = new Fallback({ sources, timings, cost, byClock: true, emit, fallBack: true });
    const drafted = { lookup: 0, eagle3: 0 };
    for (let round = 1; round <= 200; round++) {
      const may = fallback.next(round);
      // Every second round nothing repeats.
      const source = round % 2 === 0 ? 'lookup' : 'eagle3';
      const tokens = source === 'lookup' ? 5 : 1;
      if (!may.includes(source)) fallback.plain(round, 3);
      else fallback.speculative(round, { source, kind: KIND, ms: 9, tokens });
      if (may.includes(source)) drafted[source]++;
    }
    expect(drafted.lookup).toBe(100);
    expect(drafted.eagle3).toBeLessThan(8);
    expect(events).toEqual([]); // the run was never plain
  });

  it('gives a source that lost another chance, though the other one drafts in every round', () => {
    const timings = warm({ plain: 3, round: 9 });
    const sources = ['lookup', 'eagle3'] as const;
    const cost = measuredCost(timings);
    const fallback = new Fallback({ sources, timings, cost, byClock: true, emit: () => {}, fallBack: true });
    const lookups = { early: 0, late: 0 };
    for (let [round, committed] = [1, 0]; committed < 4000; round++) {
      const may = fallback.next(round);
      expect(may).toContain('eagle3');
      // Every second round something repeats, at first by chance.
      const source = round % 2 === 0 && may.includes('lookup') ? 'lookup' : 'eagle3';
      const part = committed < 2000 ? 'early' : 'late';
      const tokens = source === 'eagle3' ? 5 : part === 'early' ? 1 : 12;
      fallback.speculative(round, { source, kind: KIND, ms: 9, tokens });
      if (source === 'lookup') lookups[part]++;
      committed += tokens;
    }
    expect(lookups.early).toBeLessThan(15);
    expect(lookups.late).toBeGreaterThan(80);
  });

  it('times plain rounds again where little is accepted: a busy moment made them look dear', () => {
    const timings = warm({ plain: 9, round: 8 });
    const { ms, speculative, events } = simulate(1000, () => 1, { plain: 3, round: 8 }, { timings });
    expect(events[0]).toMatchObject({ to: 'plain', plain_ms: 3 });
    expect(speculative).toBeLessThan(30);
    expect(ms / (1000 * 3)).toBeLessThan(1.06);
    // Where drafts are kept, plain rounds are not timed again, and no round is wasted.
    expect(simulate(1000, () => 5, { plain: 3, round: 8 }).speculative).toBe(200);
  });

  it('takes no time for the price of a round where the clock is too coarse to see one', () => {
    const timings = new Timings();
    const { speculative } = simulate(200, () => 2, { plain: 0, round: 0 }, { timings });
    expect(speculative).toBe(100);
    expect(timings.ledgers.get('dflash')).toEqual({ balance: 0, lost: 0, committed: 200 });
    // One of three is seen.
    for (let i = 0; i < 30; i++) {
      timings.addPlain(i % 3 === 0 ? 16 : 0);
      timings.addRound('1+8', i % 3 === 0 ? 32 : 0);
    }
    expect([timings.plain, timings.cost('1+8')]).toEqual([16, 2]);
  });

  it('keeps on where that is asked for', () => {
    const { events, speculative } = simulate(200, () => 1, { plain: 3, round: 9 }, { fallBack: false });
    expect(events).toEqual([]);
    expect(speculative).toBe(200);
  });

  it('goes by counts alone where drafts are drawn: the clock may say what it will', () => {
    const costs = assumedCost(true);
    const choices = [1, 3, 10, 100].map((round) =>
      simulate(300, () => 1, { plain: 3, round }, { costs, byClock: false }),
    );
    expect(new Set(choices.map(({ speculative }) => speculative)).size).toBe(1);
    expect(choices[0]?.speculative).toBeLessThan(10);
  });

  it('goes on with drawn drafts of a small drafter where those of a larger one would lose', () => {
    const [small, large] = [assumedCost(true, 0.1), assumedCost(true, 0.9)].map((costs) =>
      simulate(300, () => 3, { plain: 3, round: 6 }, { costs, byClock: false }),
    );
    expect(small?.speculative).toBe(100);
    expect(large?.speculative).toBeLessThan(50);
  });

  it('goes on with drawn drafts on a GPU where a software adapter would lose', () => {
    const [gpu, software] = [assumedCost(false), assumedCost(true)].map((costs) =>
      simulate(300, () => 2, { plain: 3, round: 6 }, { costs, byClock: false }),
    );
    expect(gpu?.speculative).toBe(150);
    expect(software?.speculative).toBeLessThan(50);
  });
});
