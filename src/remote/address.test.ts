import { describe, expect, it } from 'vitest';
import { OutriderError } from '../base/errors.ts';
import { exposedKey, serverAddress } from './address.ts';
import { type RemoteSource, remote } from './server.ts';

it.each([
  ['http://localhost:8000', 'http://localhost:8000/v1/completions'],
  ['http://localhost:8000/', 'http://localhost:8000/v1/completions'],
  ['https://host/v1', 'https://host/v1/completions'],
  ['https://host/v1/', 'https://host/v1/completions'],
  ['https://host/gateway/llm', 'https://host/gateway/llm/v1/completions'],
])('asks %s at %s', (address, asked) => {
  expect(serverAddress(remote(address, 'm'), '/v1/completions').href).toBe(asked);
});

const refusal = (source: RemoteSource, page?: Location): OutriderError => {
  try {
    serverAddress(source, '/v1/completions', page);
  } catch (error) {
    if (error instanceof OutriderError) return error;
  }
  throw new Error('it was not refused');
};

it.each([
  ['not an address', remote('SECRET', 'm'), /address/],
  ['another protocol', remote('ftp://SECRET/', 'm'), /http/],
  ['a password in the address', remote('https://me:SECRET@host', 'm'), /password/],
  ['a query in the address', remote('https://host/?key=SECRET', 'm'), /query/],
  ['a model without a name', remote('https://host', ''), /name/],
  ['a key of two lines', remote('https://host', 'm', 'SECRET\nX-Evil: 1'), /key/],
  ['a key that is not ASCII', remote('https://host', 'm', 'SECRÉT'), /key/],
  ['an empty key', remote('https://host', 'm', ''), /key/],
])('refuses %s, and does not quote it', (_, source, message) => {
  const error = refusal(source);
  expect(error.code).toBe('bad-request');
  expect(error.message).toMatch(message);
  expect(JSON.stringify([error.message, error.hint])).not.toMatch(/SECR/);
});

it('says before it asks that a page on https may not ask a server on http, save on this machine', () => {
  const page = new URL('https://example.org/') as unknown as Location;
  expect(refusal(remote('http://192.168.0.2:8000', 'm'), page).hint).toMatch(/mixed content/);
  for (const local of ['http://localhost:8000', 'http://127.0.0.1:8000', 'http://[::1]:8000', 'https://far.away'])
    expect(serverAddress(remote(local, 'm'), '/pooling', page).origin).toBe(local);
});

describe('a key', () => {
  it.each([
    ['http://10.0.0.7:8000', true],
    ['http://models.example', true],
    ['https://models.example', false],
    ['http://localhost:8000', false],
    ['http://[::1]:8000', false],
  ])('to %s is sent in the open: %s', (address, exposed) => {
    expect(exposedKey(remote(address, 'm', 'sk-1')) !== null).toBe(exposed);
    expect(exposedKey(remote(address, 'm'))).toBeNull();
  });
});
