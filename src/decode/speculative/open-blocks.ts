// The drafter that fills blocks, DFlash or DSpark, for systems that take either. Its drafts are greedy: at any
// temperature the output is that of plain decoding, whatever the size of a block.
import type { RunContext } from '../core/system.ts';
import { blockDrafter } from './block-drafter.ts';
import { ChainDepth, type ChainDepthOptions } from './chain-depth.ts';
import type { Drafter } from './drafter.ts';
import { markovDrafter } from './markov-drafter.ts';
import { type AppendRows, appendTo, type DrafterContext } from './taps.ts';

/** Roles of drafters that fill blocks. */
export type BlockRole = 'dflash' | 'dspark';

/** A drafter of blocks, open for a run. */
export interface OpenBlocks {
  readonly context: DrafterContext;
  readonly append: AppendRows;
  readonly tapLayers: readonly number[];
  /** Rows of its largest block, the anchor counted. */
  readonly most: number;
  /** Drafts blocks of so many rows, the anchor counted; a block of one row drafts nothing. */
  ofSize(rows: number): Drafter;
}

/**
 * Drafts blocks of at most `rows` rows, each of the size that is expected to commit most tokens for its time. It is
 * chosen before the block is drafted, because a shorter block is not the beginning of a longer one.
 */
export const payingBlocks = (
  ofSize: OpenBlocks['ofSize'],
  rows: number,
  options: Pick<ChainDepthOptions, 'cost' | 'places'>,
): Drafter => {
  const depths = new ChainDepth({ ...options, most: rows - 1, nodes: (depth) => depth + 1, passes: () => 1 });
  const whole = ofSize(rows);
  let drafted = 0;
  return {
    by: whole.by,
    rate: () => depths.best.rate,
    async propose(sequence, most) {
      const proposal = await ofSize(depths.best.depth + 1).propose(sequence, most);
      drafted = proposal ? proposal.nodes - 1 : 0;
      return proposal;
    },
    observe(outcome) {
      if (drafted > 0) depths.add(drafted, outcome.path.length - 1);
      drafted = 0;
      whole.observe(outcome);
    },
  };
};

/** Rows of the largest block that this run's drafter can fill, the anchor counted; null: it is not loaded. */
export const mostRows = ({ dflash, dspark }: RunContext['models'], role: BlockRole): number | null => {
  if (role === 'dflash') return dflash?.blockSize ?? null;
  return dspark ? dspark.drafts + 1 : null;
};

export const openBlocks = async (run: Pick<RunContext, 'models' | 'open'>, role: BlockRole): Promise<OpenBlocks> => {
  const tapLayers = run.models[role]?.tapLayers ?? [];
  const most = mostRows(run.models, role) ?? 1;
  if (role === 'dflash') {
    const context = await run.open('dflash');
    const append = appendTo(context);
    return { context, append, tapLayers, most, ofSize: (rows) => blockDrafter(context, append, rows, false) };
  }
  const context = await run.open('dspark');
  const append = appendTo(context);
  const whole = { sampled: false, cut: async () => ({ rule: 'none' }) as const, cutBy: 'device' } as const;
  const ofSize = (rows: number) => markovDrafter(context, append, { ...whole, size: rows - 1 });
  return { context, append, tapLayers, most, ofSize };
};
