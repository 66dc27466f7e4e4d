// Speculative decoding with a draft model (Leviathan et al., arXiv 2211.17192; Chen et al., arXiv 2302.01318). Exact.
// A small model of the same vocabulary writes γ tokens one by one; the target scores them in one pass and keeps each
// with probability min(1, p/q), drawing from the residual where it refuses one. The drafts stay on the device. Beyond
// the paper: γ may follow the measured acceptance.

import { Acceptance } from '../decode/acceptance.ts';
import { prefill, readPrompt } from '../decode/prefill.ts';
import { draftSampling } from '../decode/sampling.ts';
import { chainOf, type Drafter, fallBackKnob, speculate } from '../decode/speculate.ts';
import type { DecodingSystem } from '../decode/system.ts';
import type { Cursor, HeldLaw, HeldToken } from '../model/model.ts';

const MOST = 15;

const knobs = {
  gamma: {
    kind: 'number',
    label: 'γ, tokens a draft (0: follows the acceptance)',
    min: 0,
    max: MOST,
    step: 1,
    initial: 0,
  },
  'fall-back': fallBackKnob,
} as const;

/** What a draft costs, in plain tokens: a pass of the draft and a row of the target's. */
const COST = 0.4;

const draftWith = (cursor: Cursor, gamma: number): Drafter => {
  const acceptance = new Acceptance({ cost: COST, most: MOST, begin: 0.8, decay: 0.9 });
  let drafts = 0;
  return {
    by: 'draft',
    async propose({ tokens, sampling: targets }, most) {
      const anchor = tokens.length - 1;
      drafts = Math.min(gamma || acceptance.drafts, most, cursor.capacity - anchor);
      if (drafts < 1) return null;
      const sampling = draftSampling(targets);
      const law = sampling.temperature > 0;
      let pass = await cursor.extend(tokens.slice(cursor.length));
      const written: HeldToken[] = [];
      const laws: HeldLaw[] = [];
      for (;;) {
        const drawn = pass.draw(0, sampling, { law });
        written.push(drawn.token);
        if (drawn.law) laws.push(drawn.law);
        if (written.length === drafts) break;
        pass = cursor.forward(chainOf([drawn.token]));
        pass.accept([0]);
      }
      const tree = chainOf([tokens[anchor] as number, ...written]);
      return { tree, laws: law ? laws : null, nodes: drafts + 1, passes: drafts };
    },
    observe({ path, base }) {
      // What was refused must not stay. After plain rounds the draft lags; it catches up when it is asked again.
      cursor.rewind(Math.min(cursor.length, base + path.length));
      if (drafts > 0) acceptance.add(drafts, path.length - 1);
      drafts = 0;
    },
  };
};

export default {
  id: 'draft-model',
  title: 'Draft model',
  paper: 'https://arxiv.org/abs/2211.17192',
  guarantee: 'exact',
  needs: ['target', 'draft'],
  knobs,
  async start(run) {
    const target = await run.open('target');
    const draft = await run.open('draft');
    await readPrompt(run, draft);
    const { first } = await prefill(run, target);
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: true };
    return { first, round: speculate(target, draftWith(draft, run.knobs.gamma), run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
