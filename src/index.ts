// The public surface. `connect()` runs an engine in a worker, `createEngine()` right here; both are the same Engine. The
// lower half is for users of other engines who want just the model: forward passes over trees, rewind, fork.
import './dispose.ts';

export type { Beside } from './beside.ts';
export { BUNDLED } from './bundled.ts';
export type { Calibrated, CalibrateOptions } from './calibrate.ts';
export { type ConnectOptions, connect } from './connect.ts';
export type { Calibration } from './decode/calibration.ts';
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
  type ModelInfo,
} from './engine.ts';
export { type ErrorCode, type Fault, OutriderError, toFault } from './errors.ts';
export { openBrowserGpu } from './gpu/browser.ts';
export { Gpu } from './gpu/device.ts';
export { type LoadedModel, type LoadSourceOptions, loadSource, type Progress } from './load.ts';
export type { DeviceCard, MeasureOptions, Measuring } from './measure.ts';
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
export type { Preflight, PreflightOptions, PreflightPart } from './preflight.ts';
export { type JudgedBy, type RemoteJudge, type RemoteSource, remote, remoteJudge } from './remote/source.ts';
export type { Prompt, RunRequest } from './request.ts';
export type { LoadOptions, LoadProgress, ModelSource, ModelSources } from './sources.ts';
export { SYSTEMS } from './systems/index.ts';
export type { ChatMessage } from './text/chat-template.ts';
export { loadTokenizer, type Tokenizer } from './text/tokenizer.ts';
export * from './trace.ts';
export type { Source as CheckpointSource } from './weights/open.ts';
