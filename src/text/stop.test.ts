import { describe, expect, it } from 'vitest';
import { stopMatcher } from './stop.ts';

const run = (stops: string[], deltas: string[]) => {
  const matcher = stopMatcher(stops);
  const shown = deltas.map((delta) => matcher.push(delta));
  return { shown, end: matcher.end(), stopped: matcher.stopped };
};

describe('stop strings', () => {
  it('passes text through when there are none', () => {
    expect(run([], ['a', 'b'])).toEqual({ shown: ['a', 'b'], end: '', stopped: null });
  });

  it('cuts at a match inside a delta', () => {
    expect(run(['END'], ['one END two', 'three'])).toEqual({ shown: ['one ', ''], end: '', stopped: 'END' });
  });

  it('holds back what may be the beginning of a match, over any number of deltas', () => {
    expect(run(['\n\nQ:'], ['a\n', '\n', 'Q', ':b'])).toEqual({
      shown: ['a', '', '', ''],
      end: '',
      stopped: '\n\nQ:',
    });
  });

  it('lets go as soon as it cannot be a match', () => {
    expect(run(['aab'], ['a', 'a', 'a', 'c'])).toEqual({ shown: ['', '', 'a', 'aac'], end: '', stopped: null });
  });

  it('gives back what it held when the text ends', () => {
    expect(run(['</answer>'], ['42</ans'])).toEqual({ shown: ['42'], end: '</ans', stopped: null });
  });

  it('takes the earliest of several matches', () => {
    expect(run(['yz', 'x'], ['wxyz'])).toEqual({ shown: ['w'], end: '', stopped: 'x' });
  });

  it('never shows a stop string, whatever the deltas', () => {
    const text = 'abcabdabcabcabd!!abcabcabdX';
    for (let size = 1; size <= text.length; size++) {
      const deltas = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const { shown, stopped } = run(['abcabcabd'], deltas);
      expect(shown.join('')).toBe('abcabd');
      expect(stopped).toBe('abcabcabd');
    }
  });
});
