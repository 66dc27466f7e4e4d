// Replaces the ONNX runtime in the single file, which cannot contain its 14 MB of WebAssembly.
import { refuse } from '../base/refuse.ts';

throw refuse(
  'this file has no ONNX runtime, which block-size policies and some judges need',
  'Choose another system, or import `outrider/widget` through a bundler.',
);
