// Every architecture that config.json may name, and the family that reads it: language models, drafters, and judges,
// which are a language model's body under another head. A new family is a file and a line here.
import type { OutriderError } from '../../base/errors.ts';
import { modelKind } from '../../base/model-kinds.ts';
import { bad } from '../../base/refuse.ts';
import { shown } from '../../base/shown.ts';
import type { Architecture } from '../architecture.ts';
import { readCohere, readCohere2 } from './cohere.ts';
import { Config } from './config.ts';
import { AS_THEY_ARE } from './decoder.ts';
import { type DFlash, readDFlash } from './dflash.ts';
import { type DSpark, readDSpark, readLiquid, readSpecForge } from './dspark.ts';
import { type Eagle3, readEagle3 } from './eagle3.ts';
import { readErnie45 } from './ernie4-5.ts';
import { readExaone } from './exaone.ts';
import { readExaone4 } from './exaone4.ts';
import { readGemma1, readGemma2, readGemma3, readGemma3WithImages, readVaultGemma } from './gemma.ts';
import { readGlm, readGlm4 } from './glm.ts';
import { readGPTNeoX } from './gpt-neox.ts';
import { readGPT2 } from './gpt2.ts';
import { readGranite, readGranite4 } from './granite.ts';
import { readHelium } from './helium.ts';
import { readHunyuan } from './hunyuan.ts';
import { readInternLM2, readInternLM3 } from './internlm.ts';
import { readLfm2, readLfm2VL } from './lfm2.ts';
import { readLlama, readMinistral, readMistral, readSmolVLM } from './llama.ts';
import { readMiniCPM } from './minicpm.ts';
import { readMinistral3, readMistral3WithImages } from './ministral3.ts';
import { type Mtp, readMtp, readMtpWithImages } from './mtp.ts';
import { readOlmo2, readOlmo3 } from './olmo2.ts';
import { readPhi } from './phi.ts';
import { readPhi3 } from './phi3.ts';
import { readQwen2, readQwen2VL } from './qwen2.ts';
import { readQwen3, readQwen3VL } from './qwen3.ts';
import { readQwen35, readQwen35WithImages } from './qwen3-5.ts';
import { readSmolLM3 } from './smollm3.ts';
import { isSpeculators, readSpeculators } from './speculators.ts';
import { readStableLM } from './stablelm.ts';
import { readStarcoder2 } from './starcoder2.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a drafter's config says besides its architecture. */
export type DrafterFamily = DFlash | DSpark | Eagle3 | Mtp;

const MODELS: Readonly<Record<string, (config: Config) => Architecture>> = {
  CohereForCausalLM: readCohere,
  Cohere2ForCausalLM: readCohere2,
  Ernie4_5ForCausalLM: readErnie45,
  Ernie4_5_ForCausalLM: readErnie45, // as it was first published
  Exaone4ForCausalLM: readExaone4,
  ExaoneForCausalLM: readExaone,
  GemmaForCausalLM: readGemma1,
  Gemma2ForCausalLM: readGemma2,
  Gemma3ForCausalLM: readGemma3,
  Gemma3ForConditionalGeneration: readGemma3WithImages,
  Glm4ForCausalLM: readGlm4,
  GlmForCausalLM: readGlm,
  GPT2LMHeadModel: readGPT2,
  GPTNeoXForCausalLM: readGPTNeoX,
  GraniteForCausalLM: readGranite,
  GraniteMoeHybridForCausalLM: readGranite4,
  HeliumForCausalLM: readHelium,
  HunYuanDenseV1ForCausalLM: readHunyuan,
  Idefics3ForConditionalGeneration: readSmolVLM,
  InternLM2ForCausalLM: readInternLM2,
  InternLM3ForCausalLM: readInternLM3,
  Lfm2ForCausalLM: readLfm2,
  Lfm2VlForConditionalGeneration: readLfm2VL,
  LlamaForCausalLM: readLlama,
  MiniCPMForCausalLM: readMiniCPM,
  Ministral3ForCausalLM: readMinistral3,
  MinistralForCausalLM: readMinistral,
  MistralForCausalLM: readMistral,
  Mistral3ForConditionalGeneration: readMistral3WithImages,
  Olmo2ForCausalLM: readOlmo2,
  Olmo3ForCausalLM: readOlmo3,
  PhiForCausalLM: readPhi,
  Phi3ForCausalLM: readPhi3,
  Qwen2ForCausalLM: readQwen2,
  Qwen2VLForConditionalGeneration: readQwen2VL,
  Qwen2_5_VLForConditionalGeneration: readQwen2VL,
  Qwen3ForCausalLM: readQwen3,
  Qwen3VLForConditionalGeneration: readQwen3VL,
  Qwen3_5ForCausalLM: readQwen35,
  Qwen3_5ForConditionalGeneration: readQwen35WithImages,
  SmolLM3ForCausalLM: readSmolLM3,
  SmolVLMForConditionalGeneration: readSmolVLM,
  StableLmForCausalLM: readStableLM,
  Starcoder2ForCausalLM: readStarcoder2,
  VaultGemmaForCausalLM: readVaultGemma,
};

const DRAFTERS: Readonly<Record<string, (config: Config) => DrafterFamily>> = {
  DFlashDraftModel: readDFlash,
  DSparkDraftModel: readSpecForge,
  Lfm2DSparkDraftModel: readLiquid,
  Qwen3DSparkModel: readDSpark,
  LlamaForCausalLMEagle3: readEagle3,
  Eagle3LlamaForCausalLM: readEagle3,
  // These are always of the speculators layout, which is told by a field of its own.
  DFlashSpeculator: readSpeculators,
  DSparkSpeculator: readSpeculators,
  Eagle3Speculator: readSpeculators,
  Eagle3DraftModel: readSpeculators,
};

/** Language models whose checkpoint also holds a layer that drafts. */
const WITH_MTP: Readonly<Record<string, (config: Config) => DrafterFamily>> = {
  Qwen3_5ForCausalLM: readMtp,
  Qwen3_5ForConditionalGeneration: readMtpWithImages,
};

/** Drafters that are known, and not read: what each of them has that Outrider does not. */
const REFUSED: Readonly<Record<string, string>> = {
  Gemma4DSparkModel: 'its layers are those of Gemma 4',
  Gemma4Eagle3Model: 'its layers are those of Gemma 4',
  Qwen35DSparkModel: 'its queries are gated',
  DFlash2DraftModel: 'it has convolutions along the block and a selector of candidates',
  Qwen3Eagle3Model: 'it taps five layers and covers the whole vocabulary, another model than EAGLE-3',
};

/** A family's name in `architectures` and in `model_type`, without what the two spell differently. */
const familyOf = (name: string): string => name.replace(/For.*|LMHeadModel|_text|_/g, '').toLowerCase();

/** The architecture that a config names. transformers runs InternLM3 by LLaMA's class, and saves it under that name. */
const named = ({ architectures, model_type: type }: Json): string => {
  const first: unknown = Array.isArray(architectures) ? architectures[0] : undefined;
  if (first === 'LlamaForCausalLM' && type === 'internlm3') return 'InternLM3ForCausalLM';
  if (typeof first === 'string') return first;
  const own = typeof type === 'string' ? familyOf(type) : '';
  return Object.keys(MODELS).find((model) => model.endsWith('ForCausalLM') && familyOf(model) === own) ?? 'none';
};

const unsupported = (name: string, known: object, hint: string): OutriderError => {
  const families = Object.keys(known).map((each) => each.replace(/For(CausalLM|ConditionalGeneration)$/, ''));
  return bad(
    `architecture ${name} is not supported${hint === '' ? '' : ' here'}`,
    hint || `Supported: ${[...new Set(families)].join(', ')}.`,
  );
};

/** The inner config of a model that also sees images may tell what it is. */
const inner = ({ text_config: text }: Json): Json => (typeof text === 'object' && text !== null ? (text as Json) : {});

/** Of weights that are integers with scales, as other libraries store them. */
const refuseQuantized = ({ quantization_config: own, quantization = own }: Json): void => {
  if (typeof quantization !== 'object' || quantization === null) return;
  const { quant_method: method, bits } = quantization as Json;
  const how = typeof method === 'string' ? ` by ${method}` : typeof bits === 'number' ? ` to ${bits} bits` : '';
  throw bad(
    `the weights are quantised${how}, which is not supported in safetensors`,
    'Load the model that it was made from, with precision q8 or q4, or a GGUF file of it.',
  );
};

const readerIn = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Whether a config is a drafter's. */
export const isDrafter = (json: Json): boolean =>
  isSpeculators(json) || readerIn(DRAFTERS, named(json)) !== undefined || readerIn(REFUSED, named(json)) !== undefined;

interface Names {
  has(name: string): boolean;
}

/** Where a checkpoint that also sees images keeps the language model, whose tensors elsewhere begin with `model.`. */
const INNER = ['model.language_model.', 'language_model.model.', 'model.text_model.'];

/** The architecture with the names that its tensors have in this checkpoint. */
const located = (architecture: Architecture, tensors: Names): Architecture => {
  const inner = INNER.find((prefix) => tensors.has(`${prefix}embed_tokens.weight`));
  const bare = tensors.has('wte.weight'); // GPT-2
  if (inner === undefined && !bare) return architecture;
  const head = 'language_model.lm_head.weight';
  const nameIn = (name: string): string => {
    if (inner === undefined) return name.replace(/^transformer\./, '');
    return name === 'lm_head.weight' && tensors.has(head) ? head : name.replace(/^model\./, inner);
  };
  const names = Object.entries(architecture.names).map(([weight, name]) => [weight, nameIn(name)]);
  return { ...architecture, names: Object.fromEntries(names) };
};

const FAMILIES = new Set(Object.keys(MODELS).map(familyOf));

/** transformers goes by `model_type`, others by `architectures`: where they name two families, neither is sure. */
const refuseOtherType = (name: string, { model_type: type }: Json): void => {
  if (typeof type === 'string' && FAMILIES.has(familyOf(type)) && familyOf(type) !== familyOf(name))
    throw bad(`architectures ${name} and model_type ${type} disagree`, 'Correct the one that does not hold.');
};

/** A language model's config. `tensors`: those of its checkpoint, whose names may depend on how it was published. */
export const readArchitecture = (json: Json, tensors: Names = new Set<string>()): Architecture => {
  if (readsDraftStates(json))
    throw bad(
      "this judge reads the draft's hidden states, and writes no text",
      'Load it as `prm` or `router`, together with its draft.',
    );
  const name = named(json);
  const read = readerIn(MODELS, name);
  if (read) {
    refuseOtherType(name, json);
    refuseQuantized(json);
    return located(read(new Config(json)), tensors);
  }
  if (isDrafter(json))
    throw unsupported(name, MODELS, 'It is a drafter: load it together with the target that it drafts for.');
  if (name === 'none')
    throw bad(
      'config.json names no architecture',
      'It states one in architectures or in model_type: LlamaForCausalLM, llama.',
    );
  const kind = modelKind(name, { ...json, ...inner(json) });
  if (kind) throw bad(`architecture ${name} is not supported: ${kind.what}`, kind.hint);
  throw unsupported(name, MODELS, '');
};

const MTP = 'mtp.fc.weight';

/** Whether the checkpoint of a language model also holds a layer that drafts for it. */
export const hasMtp = ({ config, tensors }: { readonly config: Json; readonly tensors: Names }): boolean =>
  readerIn(WITH_MTP, named(config)) !== undefined && tensors.has(MTP);

/** Some converters leave the layer out, and its fields in. */
const refuseWithoutMtp = (tensors: Names): void => {
  if (tensors.has('mtp.embed_tokens.weight') || tensors.has('mtp.lm_head.weight'))
    throw bad('the MTP layer has an embedding or a head of its own, which is not supported');
  if (!tensors.has(MTP))
    throw bad(
      'the checkpoint has no MTP layer, so it does not draft for itself',
      'Not every file of a Qwen3.5 has it: choose one whose name says MTP, or another decoding system.',
    );
};

/** A drafter's config, or that of a language model with one built in. `tensors`: those of its checkpoint. */
export const readDrafter = (json: Json, tensors?: Names): DrafterFamily => {
  const name = named(json);
  const withMtp = readerIn(WITH_MTP, name);
  if (withMtp) {
    if (tensors) refuseWithoutMtp(tensors);
    return withMtp(new Config(json));
  }
  const refused = readerIn(REFUSED, name);
  if (refused) throw unsupported(name, DRAFTERS, `It is a drafter of another kind: ${refused}.`);
  if (json.vocab_size === null)
    throw bad('the file does not tell the size of its vocabulary', 'Its target does: name both.');
  const read = isSpeculators(json) ? readSpeculators : readerIn(DRAFTERS, name);
  if (read) return read(new Config(json));
  if (readerIn(MODELS, name))
    throw bad(
      `${name} is a language model: it is no drafter, and has no MTP layer that Outrider runs`,
      'Use a drafter that was made for the target, or a target with an MTP layer (Qwen3.5). A smaller model is loaded as `draft`.',
    );
  throw unsupported(name, DRAFTERS, '');
};

/** Tensors that a drafter's checkpoint may hold besides those of the architecture; two map its own vocabulary. */
export const drafterExtras = ({ copies, architecture }: DrafterFamily): readonly string[] =>
  architecture.spreadOver === null ? copies : [...copies, 'd2t', 't2d'];

/**
 * Fields of a judge's config that say nothing of its body: those of its classes, and those of judge/judge-config.ts.
 */
const HEAD_FIELDS = new Set(['classifier_dropout', 'gives', 'layout', 'num_labels', 'problem_type', 'step_token_id']);

/** A LLaMA, Qwen2 … with another head goes by a name of its own. */
const HEADED = /^(\w+)For(?:TokenClassification|SequenceClassification|RewardModel|PrmModel)$/;

/** How the names of a judge's head begin: a reward model's, a token classifier's. Null: the checkpoint is no judge. */
export const scoredHead = (tensors: Names): 'v_head.summary' | 'score' | null =>
  (['v_head.summary', 'score'] as const).find((head) => tensors.has(`${head}.weight`)) ?? null;

export const isScored = (tensors: Names): boolean => scoredHead(tensors) !== null;

/** The body of a judge; a vocabulary's head, if there is one, is not loaded. */
export const readScored = (json: Json, tensors: Names = new Set<string>()): Architecture => {
  const body = Object.fromEntries(Object.entries(json).filter(([name]) => !HEAD_FIELDS.has(name)));
  const model = `${HEADED.exec(named(json))?.[1]}ForCausalLM`;
  const read = readArchitecture(readerIn(MODELS, model) ? { ...body, architectures: [model] } : body, tensors);
  return { ...read, head: 'tied', logits: AS_THEY_ARE };
};

/** How a judge's config says that its layers go on from the hidden states that the draft has of the text. */
const DRAFT_STATES = 'draft-states';

/** Whether a config is of a judge that reads no tokens. */
export const readsDraftStates = ({ reads }: Json): boolean => reads !== undefined;

/** Its layers; what a language model embeds tokens with is the head. */
export const readStateJudge = ({ reads, ...body }: Json, tensors: Names): Architecture => {
  if (reads !== DRAFT_STATES)
    throw bad(
      `config.json: reads is ${shown(reads)}; expected ${DRAFT_STATES}`,
      'Without the field a judge reads tokens.',
    );
  const read = readArchitecture(body, tensors);
  if (read.head !== 'tied')
    throw bad(
      "the head of a judge that reads the draft's hidden states is model.embed_tokens",
      'Set tie_word_embeddings to true in its config.json.',
    );
  return read;
};
