// BlockPilot: a block size for each instance (arXiv 2606.31315). Exact. It is DFlash with a block size that is chosen
// once, after the first token: a small network reads the target's last row of logits and predicts the acceptance length τ
// of every size. The paper takes the size with the largest τ. Here a round of every size is timed on this device when
// the models are first used, and the size with the least time a token wins; of sizes about as good, the smallest. Size
// 1 is plain decoding. Beyond the paper, a DSpark drafter may fill the blocks.
import { MOST_ROWS } from '../base/pass-rows.ts';
import { refuseKnob } from '../decode/core/knobs.ts';
import type { DecodingSystem, Round } from '../decode/core/system.ts';
import { refusedFirst } from '../decode/speculative/block-drafter.ts';
import { chooseSize } from '../decode/speculative/choose-block-size.ts';
import { mostRows, openBlocks } from '../decode/speculative/open-blocks.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { prefillBlocks } from '../decode/speculative/taps.ts';
import { timeBlockSizes } from '../decode/speculative/time-block-sizes.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const candidates = {
  kind: 'numbers',
  label: 'Block sizes to choose from (the anchor counted)',
  min: 1,
  max: 32,
  initial: [1, 4, 8, 12, 16],
} as const;

const drafter = { kind: 'choice', label: 'Drafter', options: ['dflash', 'dspark'], initial: 'dflash' } as const;

const knobs = {
  candidates,
  drafter,
  label: {
    kind: 'choice',
    label: 'Choose by time a token, or by acceptance length τ',
    options: ['time', 'tau'],
    initial: 'time',
  },
  'fall-back': fallBackKnob,
} as const;

export default {
  id: 'blockpilot',
  title: 'BlockPilot',
  summary: 'DFlash with a block size for each prompt: a policy predicts acceptance, measured times decide.',
  group: 'speculative',
  paper: 'https://arxiv.org/abs/2606.31315',
  guarantee: 'exact',
  needs: ['target', 'dflash', 'policy'],
  uses: ['dspark'],
  instead: { dflash: 'dspark' },
  knobs,
  writesSteps: 'by-default',
  variants: [
    { knobs: {}, drawn: false },
    { knobs: { drafter: 'dspark' }, drawn: false },
  ],
  fit: (models) => {
    const loaded = drafter.options.filter((role) => models[role]);
    const [initial] = loaded;
    if (!models.policy || !initial) return {};
    const sizes = models.policy.blockSizes.filter((size) => size <= (mostRows(models, initial) as number));
    const others = 'Load a drafter under that role.';
    return { candidates: { ...candidates, initial: sizes }, drafter: { ...drafter, options: loaded, initial, others } };
  },
  check({ models, knobs: { candidates, drafter: role } }) {
    const trained = mostRows(models, role) ?? 0;
    const most = Math.max(...candidates);
    if (most > trained)
      throw refuseKnob(`blockpilot: a block of ${most}; the ${role} drafter was trained for ${trained}`);
    const known = models.policy?.blockSizes ?? [];
    const strange = candidates.find((size) => !known.includes(size));
    if (candidates.length > 1 && strange !== undefined)
      throw refuseKnob(
        `blockpilot: the policy knows no block size ${strange}`,
        `It was trained for ${known.join(', ')}.`,
      );
  },
  async start(run) {
    const { candidates, drafter: role, label, 'fall-back': fallBack } = run.knobs;
    const { policy } = run.models;
    if (!policy) throw new Error('blockpilot was started without its policy');
    const most = Math.max(...candidates);
    const { context, append, tapLayers, ofSize } = await openBlocks(run, role);
    const target = await run.open('target', { tapLayers, nodes: Math.max(MOST_ROWS, most) });
    const rounds = (size: number) =>
      speculate(target, refusedFirst(ofSize(size), run), run, { fallBack: fallBack === 'on', drawn: false });
    const [only, ...others] = candidates;
    let size = others.length === 0 ? only : undefined;
    const { first, logits } = await prefillBlocks(run, target, context, append, { logits: size === undefined });
    const choose = async (): Promise<number> => {
      if (!logits) throw new Error('the logits were not read');
      const times = () => timeBlockSizes(target, ofSize, candidates, run);
      return chooseSize({ policy, logits, candidates, by: label, times, emit: run.emit });
    };
    let round: Round | null = null;
    return {
      first,
      // Choosing is a part of the first round, as timing is in every system: the first token does not wait for it.
      async round(context) {
        size ??= await choose();
        round ??= rounds(size);
        return round(context);
      },
      get chosen() {
        return size === undefined ? {} : { candidates: [size] };
      },
    };
  },
} satisfies DecodingSystem<typeof knobs>;
