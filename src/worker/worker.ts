// The engine's worker, for one page or shared by all tabs. start-worker.ts starts it, and client.ts calls it.
import '../base/dispose.ts';

import { expose } from 'comlink';
import { createEngine } from '../engine/engine.ts';
import { hasBrowserGpu } from '../gpu/browser.ts';
import { serve } from './service.ts';
import { serveTab } from './shared-service.ts';
import { Tabs } from './tabs.ts';

if ('onconnect' in globalThis) {
  const tabs = new Tabs(() => createEngine({ whenIdle: true }));
  globalThis.addEventListener('connect', (event) => {
    for (const port of (event as MessageEvent).ports) serveTab(tabs, port, hasBrowserGpu);
  });
} else expose(serve(createEngine({ whenIdle: true })));
