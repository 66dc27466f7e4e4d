// Which server, which of its models, and the key to it: plain data, so that it can be handed to an engine in a worker.
// The key is in no event, error or log; whoever makes one of these keeps it in memory only.
import { OutriderError } from '../errors.ts';

export interface RemoteSource {
  readonly kind: 'remote';
  /** Where `/v1/completions` is asked; the `/v1` may be said or left out. */
  readonly address: string;
  /** As the server calls it. */
  readonly model: string;
  readonly key?: string | undefined;
  /** When the server cannot be had: end the run with an error (default), or go on with what the local draft wrote. */
  readonly fallBack?: 'draft' | 'fail' | undefined;
}

/** A target behind an OpenAI-compatible completions server (vLLM, SGLang, llama.cpp), for step systems. */
export const remote = (
  address: string,
  model: string,
  key?: string,
  { fallBack = 'fail' }: Pick<RemoteSource, 'fallBack'> = {},
): RemoteSource => ({ kind: 'remote', address, model, fallBack, ...(key !== undefined && { key }) });

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The address that completions are asked of. What it refuses it does not quote: a secret may be in it. */
export const completionsAddress = ({ address, model, key }: RemoteSource, page = globalThis.location): URL => {
  const refuse = (message: string, hint: string): never => {
    throw new OutriderError('bad-request', message, hint);
  };
  if (!URL.canParse(address)) refuse("the remote's address is not one", 'Give it as http://host:port or https://host.');
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    refuse("the remote's address is neither http nor https", 'Give it as http://host:port or https://host.');
  if (url.username || url.password || url.search || url.hash)
    refuse(
      "the remote's address carries a user name, a password, a query or a fragment",
      'Give the bare address, and what authorises as the key.',
    );
  if (model === '') refuse('the remote model has no name', 'Give the name under which the server has it.');
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    refuse('the key of the remote is not one line of visible ASCII characters', 'It is sent as `Bearer KEY`.');
  if (page?.protocol === 'https:' && url.protocol === 'http:' && !LOCAL.test(url.hostname))
    refuse(
      `a page served over https may not ask ${url.origin}`,
      'Browsers block mixed content: serve the model over https, or from this machine (http://localhost).',
    );
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/completions`;
  return url;
};
