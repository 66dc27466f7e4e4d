// <outrider-chat> and its engine in one file, which is its own worker: on a page it defines the element, and in the
// worker that the element starts from this very address it serves the engine. No second file, no `blob:`, nothing to
// configure.
import '../base/dispose.ts';

import { expose } from 'comlink';
import { createEngine } from '../engine/engine.ts';
import { clientOf } from '../worker/client.ts';
import { serve } from '../worker/service.ts';
import { define } from './chat-element.ts';

const NAME = 'outrider-chat';

/**
 * Workers must be of the page's origin: from anywhere else this file comes as an import of a line that is. Once that is
 * imported, the line frees its own blob.
 */
const address = (): string => {
  const own = import.meta.url;
  if (new URL(own).origin === self.origin) return own;
  const line = `import ${JSON.stringify(own)};URL.revokeObjectURL(location.href)`;
  // A sandboxed frame has no origin; Chromium starts no module worker from a blob there.
  if (self.origin === 'null') return `data:text/javascript,${encodeURIComponent(line)}`;
  return URL.createObjectURL(new Blob([line], { type: 'text/javascript' }));
};

if (!globalThis.document && self.name === NAME) expose(serve(createEngine({ whenIdle: true })));
else define(() => clientOf(() => new Worker(address(), { type: 'module', name: NAME })));
