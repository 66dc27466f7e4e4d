// The engine's worker with its GPU calls counted: the counters come first.
import './counters.ts';
import '../../../src/worker/worker.ts';
