// The address of a remote model, checked before any request is sent.
import { refuse } from '../base/refuse.ts';
import type { Server } from './server.ts';

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Why a key should not be sent there; null when it may. */
export const exposedKey = ({ address, key }: Server): string | null => {
  const url = new URL(address);
  if (key === undefined || url.protocol !== 'http:' || LOCAL.test(url.hostname)) return null;
  return `The key for ${url.host} is sent unencrypted (http): others on the network can read it. Use https.`;
};

/** `path`: that of the request. Errors do not quote the address, because it may contain a secret. */
export const serverAddress = ({ address, model, key }: Server, path: string, page = globalThis.location): URL => {
  if (!URL.canParse(address))
    throw refuse("the remote's address is not a URL", 'Give it as http://host:port or https://host.');
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refuse("the remote's address is neither http nor https", 'Give it as http://host:port or https://host.');
  if (url.username || url.password || url.search || url.hash)
    throw refuse(
      "the remote's address carries a user name, a password, a query or a fragment",
      'Give the address without them, and the credentials as the key.',
    );
  if (model === '') throw refuse('the remote model has no name', 'Give the name under which the server has it.');
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw refuse(
      'the key of the remote is not one line of visible ASCII characters',
      'It is sent as `Bearer KEY`. Leave it out where the server wants none.',
    );
  if (page?.protocol === 'https:' && url.protocol === 'http:' && !LOCAL.test(url.hostname))
    throw refuse(
      `a page served over https may not ask ${url.origin}`,
      'Browsers block mixed content: serve the model over https, or from this machine (http://localhost).',
    );
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}${path}`;
  return url;
};
