// Stands for the ONNX runtime in the single file, which its 14 MB of WebAssembly could not be part of.
import { refuse } from '../base/refuse.ts';

throw refuse(
  'this file has no ONNX runtime, which block-size policies and some judges need',
  'Choose another system, or import `outrider/widget` through a bundler.',
);
