// The public surface, exports only. `connect()` runs an engine in a worker, `createEngine()` in this thread; both give
// the same Engine. `loadSource` and the types of model/ serve those who want the model alone: passes over trees,
// rewind, fork. Names marked as deprecated are old ones, kept for one version.
import './base/dispose.ts';

export { type ErrorCode, type Fault, OutriderError, type Overflow, type Remedy, toFault } from './base/errors.ts';
export type { Constraint, JsonSchema } from './constraint/constraint.ts';
export type { ChoiceKnob, Knob, Knobs, KnobValue, NumberKnob, NumbersKnob } from './decode/core/knobs.ts';
export {
  missingRoles,
  /** @deprecated Use `missingRoles`. Goes with 0.2.0. */
  missingRoles as lacking,
  optionalRoles,
} from './decode/core/missing-roles.ts';
export {
  type AlsoRole,
  type Commit,
  type DecodingSystem,
  describeSystem,
  type Generation,
  type Judge,
  type JudgeCursor,
  type JudgedStep,
  type ModelRole,
  type Models,
  type PlannedRun,
  type Round,
  type RoundContext,
  type RunContext,
  type Score,
  type Sequence,
  SYSTEM_GROUPS,
  type SystemFacts,
  type SystemGroup,
  type Variant,
  type Vote,
  type WriterRole,
} from './decode/core/system.ts';
export type { Calibration } from './decode/steps/calibration.ts';
export { BUNDLED, BUNDLED_PARTNERS } from './engine/bundled.ts';
export type { Calibrated, CalibrateOptions } from './engine/calibrate.ts';
export type { DeviceCard, MeasureOptions, Measuring } from './engine/device-card.ts';
export {
  createEngine,
  type Engine,
  type Loaded,
  type ModelInfo,
} from './engine/engine.ts';
export type { EngineOptions } from './engine/engine-options.ts';
export { loadSource } from './engine/load/language-model.ts';
export type { LoadedModel, LoadSourceOptions, Progress } from './engine/load/loaded-models.ts';
export type {
  Sidecar,
  /** @deprecated Use `Sidecar`. Goes with 0.2.0. */
  Sidecar as Beside,
} from './engine/load/sidecar.ts';
export type { Preflight, PreflightOptions, PreflightPart } from './engine/preflight.ts';
export type { Prompt, Reasoning, RunRequest } from './engine/request.ts';
export type { LoadOptions, LoadProgress, ModelSource, ModelSources } from './engine/sources.ts';
export { openBrowserGpu } from './gpu/browser.ts';
export { Gpu } from './gpu/device.ts';
export type {
  CachePrecision,
  Choice,
  Combination,
  Cursor,
  DeviceTensor,
  /** @deprecated Use `DeviceTensor`. Goes with 0.2.0. */
  DeviceTensor as Held,
  Drawn,
  Ensemble,
  EnsembleChain,
  EnsembleVerdict,
  ExtendOptions,
  Forward,
  KeptRow,
  /** @deprecated Use `KeptRow`. Goes with 0.2.0. */
  KeptRow as HeldRow,
  LanguageModel,
  OpenCursor,
  OpenEnsemble,
  Sampling,
  Tree,
} from './model/interface.ts';
export { type JudgedBy, type RemoteJudge, type RemoteSource, remote, remoteJudge } from './remote/server.ts';
export type { SystemId } from './systems/ids.ts';
export { SYSTEMS } from './systems/index.ts';
export { type AnswerFormat, type AnswerPart, AnswerReader } from './text/answer-format.ts';
export type { ChatMessage } from './text/chat-template.ts';
export type { PromptMessage, TextPart } from './text/message-content.ts';
export { loadTokenizer, type Tokenizer } from './text/tokenizer.ts';
export type { ToolFunction, Tools } from './text/tool-calls/tools.ts';
export * from './trace/index.ts';
export type { StoredModel } from './weights/files/stored-models.ts';
export type { Source as CheckpointSource } from './weights/open.ts';
export type { Precision } from './weights/quantize/quantize.ts';
export { type ConnectOptions, connect } from './worker/connect.ts';
export type { Client } from './worker/shared-client.ts';
