// The drafter that fills blocks, DFlash or DSpark, for systems that take either. Its drafts are greedy: at any
// temperature the output is that of plain decoding, whatever the size of a block.
import type { RunContext } from '../core/system.ts';
import { blockDrafter } from './block-drafter.ts';
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
