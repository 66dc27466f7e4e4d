// `outrider/widget/vue`: `outrider/widget` (package.json gives it the same script), and <outrider-chat> in Vue's
// templates and JSX. An entry of its own, so that only its users need Vue's types.
import type { EmitFn, HTMLAttributes, PublicProps } from 'vue';
import type { OutriderChat } from './chat-element.ts';
import type { OutriderChatEventMap } from './events.ts';
import type { ChatSettings } from './template.ts';

export * from './index.ts';

/** What `<outrider-chat>` takes in a template. */
export interface OutriderChatProps
  extends Omit<HTMLAttributes, keyof ChatSettings | keyof PublicProps>,
    PublicProps,
    ChatSettings {}

type Emit = EmitFn<{ [Name in keyof OutriderChatEventMap]: (event: OutriderChatEventMap[Name]) => void }>;

declare module 'vue' {
  interface GlobalComponents {
    'outrider-chat': new () => OutriderChat & { readonly $props: OutriderChatProps; readonly $emit: Emit };
  }
}
