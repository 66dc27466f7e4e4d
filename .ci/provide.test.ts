// The backports entry is the machine's own mirror with another suite, whichever format the machine writes.
import { expect, test } from 'vitest';
import { backportsEntry } from './provide.mjs';

const STANZAS = `Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

# The mirror
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`;

test('deb822 stanzas', () => {
  expect(backportsEntry({ name: 'debian.sources', text: STANZAS }, 'bookworm')).toBe(`# The mirror
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

`);
});

test('one-line entries, with options', () => {
  const text = `# deb http://old.example/debian bookworm main
deb-src http://mirror.example/debian bookworm main
deb [signed-by=/k.gpg] http://mirror.example/debian bookworm main
deb http://mirror.example/debian bookworm-updates main
`;
  expect(backportsEntry({ name: 'machine.list', text }, 'bookworm')).toBe(
    'deb [signed-by=/k.gpg] http://mirror.example/debian bookworm-backports main\n',
  );
});

test('sources of other distributions give none', () => {
  expect(backportsEntry({ name: 'debian.sources', text: STANZAS }, 'trixie')).toBeNull();
  expect(backportsEntry({ name: 'node.list', text: 'deb http://node.example nodistro main\n' }, 'bookworm')).toBeNull();
});
