// Types of <outrider-chat> in a framework's template, derived from the element's own properties and events.
import type { OutriderChatEventMap } from './events.ts';
import type { ChatProperties } from './properties.ts';

type Settings = Omit<ChatProperties, keyof HTMLElement>;

/** `maxTokens` → `max-tokens` */
type Dashed<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `-${Lowercase<Letter>}`}${Dashed<Rest>}`
  : Name;

/** Every setting by its property's name, and by its attribute's. */
export type ChatSettings = {
  [Name in keyof Settings as Name | Dashed<Name>]?: Settings[Name] | undefined;
};

/** A listener an event, by the event's name after `Before`. */
export type ChatListeners<Before extends string> = {
  [Name in keyof OutriderChatEventMap as `${Before}${Name}`]?:
    | ((event: OutriderChatEventMap[Name]) => void)
    | undefined;
};
