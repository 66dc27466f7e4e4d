import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: 'demo',
  publicDir: '../public',
  worker: { format: 'es' },
  test: { root: import.meta.dirname, include: ['src/**/*.test.ts'], pool: 'forks', testTimeout: 60_000 },
});
