// EAGLE-3 (arXiv 2503.01840). Exact. One layer reads the target's hidden states and the next token's embedding and
// drafts token by token, feeding its own output back: a chain, or a tree of the most probable continuations, of which
// the target keeps the longest path that it agrees with. At temperature > 0 the tokens of a chain are drawn and kept
// with probability p/q; the nodes of a tree are not drawn, so the target's own draw picks among siblings.
import type { DecodingSystem } from '../decode/core/system.ts';
import { speculate } from '../decode/speculative/speculate.ts';
import { type AppendRows, appendInOrder, prefillTapped } from '../decode/speculative/taps.ts';
import { treeDrafter } from '../decode/speculative/tree-drafter.ts';
import type { Token } from '../model/interface.ts';
import { fallBackKnob } from './fall-back-knob.ts';

const knobs = {
  shape: { kind: 'choice', label: 'Shape of a draft', options: ['tree', 'chain'], initial: 'tree' },
  nodes: { kind: 'number', label: 'Nodes of a tree (the anchor not counted)', min: 1, max: 63, step: 1, initial: 7 },
  depth: { kind: 'number', label: 'Depth, tokens', min: 1, max: 15, step: 1, initial: 7, oneDraft: 1 },
  width: { kind: 'number', label: 'Beam of a tree', min: 1, max: 10, step: 1, initial: 3 },
  'fall-back': fallBackKnob,
} as const;

export default {
  id: 'eagle3',
  title: 'EAGLE-3',
  summary: 'One layer on the target’s own features drafts a tree of continuations; the longest accepted path is kept.',
  group: 'speculative',
  paper: 'https://arxiv.org/abs/2503.01840',
  guarantee: 'exact',
  needs: ['target', 'eagle3'],
  knobs,
  writesSteps: 'on-request',
  variants: [
    { knobs: { shape: 'chain' }, drawn: true },
    { knobs: { shape: 'tree' }, drawn: false },
  ],
  async start(run) {
    const { shape, depth, width, nodes } = run.knobs;
    const drafter = await run.open('eagle3');
    const tapLayers = run.models.eagle3?.tapLayers ?? [];
    const target = await run.open('target', {
      tapLayers,
      nodes: Math.max(16, shape === 'tree' ? nodes + 1 : depth + 1),
    });

    // A row reads the embedding of the token after it. The prompt's last row waits for the first token to be drawn.
    const prompt = run.sequence.tokens;
    const append = (
      pass: Parameters<AppendRows>[0],
      rows: readonly number[],
      base: number,
      after: readonly Token[],
    ): void =>
      appendInOrder(drafter, (tapped, fitting) => drafter.append(tapped, fitting, after.slice(0, fitting.length)))(
        pass,
        rows,
        base,
      );
    const { first, last } = await prefillTapped(run, target, drafter, (pass, rows, base) => {
      const after = prompt.slice(base + 1, base + 1 + rows.length);
      append(pass, rows.slice(0, after.length), base, after);
    });
    append(last, [0], prompt.length - 1, first.tokens);

    const drafts = treeDrafter(drafter, { shape, depth, width, nodes }, ({ pass, path, choices, base }) =>
      append(
        pass,
        path,
        base,
        choices.map(({ token }) => token),
      ),
    );
    const options = { fallBack: run.knobs['fall-back'] === 'on', drawn: shape === 'chain' };
    return { first, round: speculate(target, drafts, run, options) };
  },
} satisfies DecodingSystem<typeof knobs>;
