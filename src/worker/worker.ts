// The engine's worker. start-worker.ts starts it, and client.ts calls it.
import '../base/dispose.ts';

import { expose } from 'comlink';
import { createEngine } from '../engine/engine.ts';
import { serve } from './service.ts';

expose(serve(createEngine()));
