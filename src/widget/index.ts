// `outrider/widget`: importing it defines <outrider-chat>, for pages that are built by a bundler. Its engine is started
// as `connect()` starts one; widget/one-file.ts is for pages without a bundler.
import '../base/dispose.ts';

import { clientOf } from '../worker/client.ts';
import { startWorker } from '../worker/start-worker.ts';
import { define } from './chat-element.ts';

export { OutriderChat } from './chat-element.ts';
export type { ChatAnswer, ChatToken, OutriderChatEventMap } from './events.ts';
export type { ChatProperties } from './properties.ts';

define(() => clientOf(startWorker));
