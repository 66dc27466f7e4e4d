// SpecGuard's candidates compared by a real sentence-embedding model.
import { describe, expect, it } from 'vitest';
import { noShared, shared } from '../testing/goldens/shared.ts';
import { PATIENCE, runCli } from '../testing/run-cli.ts';
import type { EventOf, TraceEvent } from '../trace/index.ts';

const run = ['generate', '--system', 'specguard', '--prompt', 'Leo plants 5 trees every day for 5 days. How many?'];

describe('--sentences', PATIENCE, () => {
  it('is what the selector `sentences` needs', async () => {
    const { status, stderr } = await runCli(...run, '--set', 'selector=sentences');
    expect(status).toBe(2);
    expect(stderr).toContain('must be one of states, tokens, none');
    expect(stderr).toContain('all-MiniLM-L6-v2');
  });

  it.skipIf(noShared)('chooses by MiniLM, unless another selector is named', async () => {
    const near = ['--sentences', shared('models/all-minilm-l6-v2'), '--set', 'k=4', '--set', 'temperature=1.5'];
    const { status, stdout } = await runCli(...run, ...near, '--max-tokens', '60', '--json');
    expect(status).toBe(0);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as TraceEvent);
    expect(events[0]).toMatchObject({ type: 'run', knobs: { selector: 'sentences' } });
    const chosen = events.filter((event): event is EventOf<'route'> => event.type === 'route');
    expect(chosen.length).toBeGreaterThan(1);
    expect(chosen.some((route) => route.chosen !== 0)).toBe(true);
  });
});
