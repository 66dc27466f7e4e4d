// docs/guide/output.md against the source: it names every event and every metric, and no other.
import { expect, it } from 'vitest';
import { namesIn } from '../testing/output-page.ts';
import { FIELDS } from './check-events.ts';
import { METRICS } from './metrics/metrics.ts';

it('names every event', () => expect(namesIn('event')).toEqual(Object.keys(FIELDS).sort()));
it('names every metric', () => expect(namesIn('metric')).toEqual(Object.keys(METRICS).sort()));
