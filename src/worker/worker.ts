// The engine's worker: started and talked to by client.ts.
import '../base/dispose.ts';

import { expose } from 'comlink';
import { createEngine } from '../engine/engine.ts';
import { serve } from './service.ts';

expose(serve(createEngine()));
