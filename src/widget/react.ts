// `outrider/widget/react`: `outrider/widget` (package.json gives it the same script), and <outrider-chat> in React's
// JSX. An entry of its own, so that only its users need React's types.
import type { ClassAttributes, HTMLAttributes } from 'react';
import type { OutriderChat } from './chat-element.ts';
import type { ChatListeners, ChatSettings } from './template.ts';

export * from './index.ts';

/** What `<outrider-chat>` takes in JSX. React 19 sets properties, and listens to `on` and an event's name. */
export interface OutriderChatProps
  extends Omit<HTMLAttributes<OutriderChat>, keyof ChatSettings>,
    ClassAttributes<OutriderChat>,
    ChatSettings,
    ChatListeners<'on'> {}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'outrider-chat': OutriderChatProps;
    }
  }
}
