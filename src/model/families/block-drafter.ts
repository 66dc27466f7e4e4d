// What drafters of blocks have in common (DFlash, DSpark): Qwen3 layers that see the target's fused hidden states as keys
// and values, and a block of masks that one pass fills. The embedding is the target's, and so is the head unless the
// draft has a smaller vocabulary of its own.
import type { Architecture } from '../architecture.ts';
import type { Config } from './config.ts';
import { AS_THEY_ARE, layerNames, readLayers } from './decoder.ts';
import { readWindows } from './windows.ts';

/** What every drafter's config says besides its architecture. */
export interface DrafterFacts {
  readonly architecture: Architecture;
  /** Ids of the target, and so of its embedding. `architecture` has the ids that the draft's head covers. */
  readonly vocabulary: number;
  /** The layers that it taps, given the number of the target's layers; -1 is the embedding. */
  readonly tapLayers: (targetLayers: number) => readonly number[];
  /** Tensors that may be in the file and are not read: copies of the target's. */
  readonly copies: readonly string[];
}

/** And what those of blocks say besides. */
export interface BlockFacts extends DrafterFacts {
  /** Rows of the largest block, the anchor's included. */
  readonly blockSize: number;
  /** The id that stands for a token to be drafted. */
  readonly maskToken: number;
  /** Layers of the target that it was trained for; null where the config does not say. */
  readonly targetLayers: number | null;
}

/** The layers whose rows see their own row and those before it; rows of the others see the whole block. */
type BlockCausality = 'none' | 'sliding' | 'all';

/** Sliding layers by default, as in the authors' code since July 2026. */
export const readCausality = (config: Config): BlockCausality => {
  const ahead = config.flag('sliding_window_non_causal', false);
  if (config.flag('is_causal', false)) return 'all';
  return ahead ? 'none' : 'sliding';
};

interface BlockOptions {
  readonly family: string;
  readonly causal: BlockCausality;
  /** The drafter's own vocabulary; null: the target's. */
  readonly drafted: number | null;
  /** How many layers of the target are fused. By default as many as the drafter has. */
  readonly taps: number | null;
  readonly heads?: Architecture['heads'];
  /** As of `Attention`. */
  readonly pairs?: 'adjacent' | undefined;
}

/** `layers` holds the sizes of the layers. */
export const blockArchitecture = (
  layers: Config,
  { family, causal, drafted, taps, heads, pairs }: BlockOptions,
): { readonly architecture: Architecture; readonly vocabulary: number; readonly copies: readonly string[] } => {
  const bias = layers.flag('attention_bias', false);
  const { sizes, blocks, norm } = readLayers(layers, {
    causal: false,
    queryKeyNorm: 'head',
    bias: { queryKeyValue: bias, output: bias },
    windows: readWindows(layers),
    ...(pairs && { pairs }),
  });
  layers.ignore('tie_word_embeddings'); // it borrows both matrices of its target
  const { vocabulary } = sizes;
  const reduced = drafted !== null && drafted !== vocabulary;
  if (drafted !== null && drafted > vocabulary)
    throw layers.error(`a draft vocabulary of ${drafted} is more than vocab_size ${vocabulary}`);
  const architecture: Architecture = {
    family,
    sizes: reduced ? { ...sizes, vocabulary: drafted } : sizes,
    blocks: blocks.map((block) => {
      const { mixer } = block;
      if (mixer.kind !== 'attention') return block;
      const masked = causal === 'all' || (causal === 'sliding' && mixer.window !== null);
      return { ...block, mixer: { ...mixer, causal: masked } };
    }),
    norm,
    input: { embedding: 'target', features: { count: taps ?? sizes.layers, as: 'keys' }, scale: 1 },
    logits: AS_THEY_ARE,
    head: reduced ? 'own' : 'target',
    spreadOver: reduced ? vocabulary : null,
    ...(heads && { heads }),
    names: {
      ...layerNames('layers.{i}'),
      fuse: 'fc.weight',
      featureNorm: 'hidden_norm.weight',
      finalNorm: 'norm.weight',
      head: 'lm_head.weight',
      markovFrom: 'markov_head.markov_w1.weight',
      markovTo: 'markov_head.markov_w2.weight',
      markovGate: `markov_head.${heads?.markov?.kind === 'rnn' ? 'joint' : 'gate'}_proj.weight`,
      markovGateBias: `markov_head.${heads?.markov?.kind === 'rnn' ? 'joint' : 'gate'}_proj.bias`,
      confidence: 'confidence_head.proj.weight',
      confidenceBias: 'confidence_head.proj.bias',
    },
  };
  return { architecture, vocabulary, copies: ['embed_tokens.weight', ...(reduced ? [] : ['lm_head.weight'])] };
};

/** Python's rounding, half to even: the published ids were made with it. */
const round = (x: number): number => {
  const low = Math.floor(x);
  return x - low === 0.5 ? low + (low % 2) : Math.round(x);
};

/** The layers that `count` taps take where the config names none, given the number of the target's layers. */
export const defaultTaps = (layers: number, count: number): number[] =>
  count === 1
    ? [Math.floor(layers / 2)]
    : Array.from({ length: count }, (_, i) => round(1 + (i * (layers - 4)) / (count - 1)));
