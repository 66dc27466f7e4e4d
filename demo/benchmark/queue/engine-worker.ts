// The engine's worker with counters of its GPU calls, which must be imported first.
import './counters.ts';
import '../../../src/worker/worker.ts';
