// The public surface. `connect()` runs an engine in a worker, `createEngine()` right here; both are the same Engine. The
// lower half is for users of other engines who want just the model: forward passes over trees, rewind, fork.
import './dispose.ts';

export { BUNDLED } from './bundled.ts';
export { type ConnectOptions, connect } from './client.ts';
export type { ChoiceKnob, Knob, Knobs, KnobValue, NumberKnob, NumbersKnob } from './decode/knobs.ts';
export { lacking } from './decode/needs.ts';
export type {
  AlsoRole,
  Commit,
  DecodingSystem,
  Generation,
  Judge,
  JudgeCursor,
  JudgedStep,
  ModelRole,
  Models,
  Round,
  RoundContext,
  RunContext,
  Score,
  Sequence,
  Vote,
  WriterRole,
} from './decode/system.ts';
export {
  createEngine,
  type Engine,
  type EngineOptions,
  type Loaded,
  type LoadOptions,
  type LoadProgress,
  type ModelInfo,
  type ModelSource,
  type ModelSources,
} from './engine.ts';
export { type ErrorCode, type Fault, OutriderError, toFault } from './errors.ts';
export { openBrowserGpu } from './gpu/browser.ts';
export { Gpu } from './gpu/device.ts';
export { type LoadedModel, type LoadSourceOptions, loadSource, type Progress } from './load.ts';
export type {
  Choice,
  Combination,
  Cursor,
  Drawn,
  Ensemble,
  EnsembleChain,
  EnsembleVerdict,
  ExtendOptions,
  Forward,
  Held,
  HeldRow,
  LanguageModel,
  OpenCursor,
  OpenEnsemble,
  Sampling,
  Tree,
} from './model/model.ts';
export { type RemoteSource, remote } from './remote/source.ts';
export type { Prompt, RunRequest } from './request.ts';
export { SYSTEMS } from './systems/index.ts';
export type { ChatMessage } from './text/chat-template.ts';
export { loadTokenizer, type Tokenizer } from './text/tokenizer.ts';
export * from './trace.ts';
export type { Source as CheckpointSource } from './weights/open.ts';
