// A drafter by features (EAGLE-3, MTP), open for a run: its context, which has a row for every row of the target, and drafts after it.
import type { Cursor, Forward, Token } from '../../model/interface.ts';
import type { Prefilled } from '../core/prefill.ts';
import type { RunContext } from '../core/system.ts';
import { confidentDrafter } from './confident-drafter.ts';
import type { Drafter } from './drafter.ts';
import { appendInOrder, prefillTapped } from './taps.ts';
import { type DraftShape, MOST_PAYING, treeDrafter } from './tree-drafter.ts';

/** Roles of such drafters. */
export type FeatureRole = 'eagle3' | 'mtp';

/**
 * What a pass of the drafter usually costs, in plain rounds: a layer and a head. EAGLE-3's covers fewer tokens; the
 * target's whole head, which MTP has, is a quarter of Qwen3.5 2B.
 */
export const FEATURE_PASS: Readonly<Record<FeatureRole, number>> = { eagle3: 0.1, mtp: 0.3 };

export interface OpenFeatures {
  readonly tapLayers: readonly number[];
  /** Reads the prompt with the target and into the drafter's context. */
  prefill(target: Cursor): Promise<Prefilled>;
  /** `drawn`: chains are drawn at random at temperature > 0. */
  drafts(shape: DraftShape): Drafter;
}

export const openFeatures = async (run: RunContext, role: FeatureRole): Promise<OpenFeatures> => {
  const model = run.models[role];
  if (!model) throw new Error(`a system was started without ${role}`);
  const drafter = await run.open(role);
  // A row reads the embedding of the token after it. The prompt's last row waits for the first token to be drawn.
  const append = (pass: Pick<Forward, 'taps'>, rows: readonly number[], base: number, after: readonly Token[]): void =>
    appendInOrder(drafter, (tapped, fitting) => drafter.append(tapped, fitting, after.slice(0, fitting.length)))(
      pass,
      rows,
      base,
    );
  return {
    tapLayers: model.tapLayers,
    async prefill(target) {
      const prompt = run.sequence.tokens;
      const read = await prefillTapped(run, target, drafter, (pass, rows, base) => {
        const after = prompt.slice(base + 1, base + 1 + rows.length);
        append(pass, rows.slice(0, after.length), base, after);
      });
      append(read.last, [0], prompt.length - 1, read.first.tokens);
      return read;
    },
    drafts: (shape) => {
      const observe: Drafter['observe'] = ({ pass, path, choices, base }) =>
        append(
          pass,
          path,
          base,
          choices.map(({ token }) => token),
        );
      // Where drafts are drawn at random, what was drawn must not decide whether it is verified.
      const drawn = shape.drawn && run.sequence.sampling.temperature > 0;
      return shape.depth === 0 && run.software && !drawn
        ? confidentDrafter(
            drafter,
            shape.shape === 'tree' ? { ...shape, by: role } : { ...shape, by: role, width: 1, nodes: MOST_PAYING },
            observe,
          )
        : treeDrafter(drafter, { ...shape, by: role, deepest: model.deepest(shape.width) }, observe);
    },
  };
};
