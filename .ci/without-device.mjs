// In the place of Dawn, for tests that share a process (`PURE` in vite.config.ts): Dawn must not share one.
throw new Error('this test opens a device: its file cannot be among PURE in vite.config.ts');
