// Drafts of a small model of the same vocabulary, written one by one. They stay on the device.
import type { Cursor, DeviceDistribution, DeviceToken } from '../../model/interface.ts';
import { Acceptance } from '../core/acceptance.ts';
import { chainOf } from '../core/chain.ts';
import { extendCounted } from '../core/extend-counted.ts';
import type { Drafter } from './drafter.ts';

/** What a draft costs, in plain tokens: a pass of the draft and a row of the target's. */
const COST = 0.4;

/** Drafts `gamma` tokens; with 0, as many as pay by the measured acceptance, at most `longest`. */
export const modelDrafter = (cursor: Cursor, gamma: number, longest: number): Drafter => {
  const acceptance = new Acceptance({ cost: COST, most: longest, begin: 0.8, decay: 0.9 });
  let drafts = 0;
  return {
    by: 'draft',
    async propose({ tokens, drafting: sampling }, most) {
      const anchor = tokens.length - 1;
      drafts = Math.min(gamma || acceptance.drafts, most, cursor.capacity - anchor);
      if (drafts < 1) return null;
      const distribution = sampling.temperature > 0;
      const { last, passes } = await extendCounted(cursor, tokens.slice(cursor.length));
      let pass = last;
      const written: DeviceToken[] = [];
      const distributions: DeviceDistribution[] = [];
      for (;;) {
        const drawn = pass.draw(0, sampling, { distribution });
        written.push(drawn.token);
        if (drawn.distribution) distributions.push(drawn.distribution);
        if (written.length === drafts) break;
        pass = cursor.forward(chainOf([drawn.token]));
        pass.accept([0]);
      }
      const tree = chainOf([tokens[anchor] as number, ...written]);
      const cost = { nodes: drafts + 1, passes: drafts, missed: passes - 1 };
      return { tree, distributions: distribution ? distributions : null, ...cost };
    },
    observe({ path, base }) {
      // Drops the rows of refused drafts. Plain rounds leave the draft's cursor short; `propose` reads what it lacks.
      cursor.rewind(Math.min(cursor.length, base + path.length));
      if (drafts > 0) acceptance.add(drafts, path.length - 1);
      drafts = 0;
    },
  };
};
