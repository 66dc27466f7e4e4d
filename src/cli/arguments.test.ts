import { describe, expect, it } from 'vitest';
import {
  choice,
  describeOptions,
  flag,
  integer,
  integers,
  number,
  parseArguments,
  text,
  texts,
  UsageError,
  words,
} from './arguments.ts';
import { nearest } from './nearest.ts';

const OPTIONS = {
  model: text('M', 'a model'),
  stop: texts('TEXT', 'a stop string'),
  systems: words('a,b', 'systems'),
  precision: choice(['f32', 'f16', 'q8', 'q4'], 'weights'),
  'max-tokens': integer('N', 'tokens', { least: 1 }),
  'top-p': number('P', 'nucleus', { least: 0, most: 1 }),
  parents: integers('I,J', 'parents', { least: -1 }),
  json: flag('JSON'),
} as const;

const parse = (...argv: string[]) => parseArguments(OPTIONS, argv).values;
const problem = (...argv: string[]): UsageError => {
  try {
    parseArguments(OPTIONS, argv, 1);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('no error');
};

describe('arguments', () => {
  it('gives what was not said as undefined, false or nothing', () => {
    expect(parse()).toEqual({
      model: undefined,
      stop: [],
      systems: undefined,
      precision: undefined,
      'max-tokens': undefined,
      'top-p': undefined,
      parents: undefined,
      json: false,
    });
  });

  it('reads every kind', () => {
    const values = parse(...'--model m --stop a --stop=b --systems x,y --precision q8'.split(' '), '--json');
    expect(values).toMatchObject({ model: 'm', stop: ['a', 'b'], systems: ['x', 'y'], precision: 'q8', json: true });
    expect(parse('--max-tokens', '12', '--top-p', '0.9')).toMatchObject({ 'max-tokens': 12, 'top-p': 0.9 });
  });

  it('lets a value begin with a dash', () => {
    expect(parse('--parents', '-1,0,0').parents).toEqual([-1, 0, 0]);
    expect(parse('--stop', '--').stop).toEqual(['--']);
    expect(parse('--stop', '\n').stop).toEqual(['\n']);
  });

  it('keeps positionals apart, and after -- everything is one', () => {
    expect(parseArguments(OPTIONS, ['a', '--json', '--', '--b'], 2)).toMatchObject({ positionals: ['a', '--b'] });
  });

  it.each([
    [['--modle', 'x'], 'unknown option --modle', 'The nearest is --model;'],
    [['--maxtokens=3'], 'unknown option --maxtokens', 'The nearest is --max-tokens;'],
    [['--constructor'], 'unknown option --constructor', ''],
    [['-t'], 'unknown option -t', ''],
    [['--model'], '--model needs a value: --model M', ''],
    [['--json=yes'], '--json takes no value', ''],
    [['--model', 'a', '--model', 'b'], '--model is given 2 times', ''],
    [['--precision', 'q5'], '--precision: "q5" is not one of f32, f16, q8, q4', ''],
    [['--max-tokens', '1.5'], '--max-tokens: "1.5" is not a whole number', ''],
    [['--max-tokens', '0x10'], '--max-tokens: "0x10" is not a whole number', ''],
    [['--max-tokens', '1e2'], '--max-tokens: "1e2" is not a whole number', ''],
    [['--top-p', '0x1'], '--top-p: "0x1" is not a number', ''],
    [['--max-tokens', ''], '--max-tokens: "" is not a whole number', ''],
    [['--max-tokens', '0'], '--max-tokens: 0 is less than 1', ''],
    [['--top-p', '2'], '--top-p: 2 is more than 1', ''],
    [['--top-p', 'Infinity'], '--top-p: "Infinity" is not a number', ''],
    [['--parents', '0,,1'], '--parents: "" is not a whole number', ''],
    [['a', 'b'], 'unexpected argument "b"', ''],
  ])('%j: %s', (argv, message, hint) => {
    const error = problem(...argv);
    expect(error.message).toBe(message);
    expect(error.hint).toContain(hint);
    expect(error.code).toBe('bad-request');
  });

  it('describes its options in one column', () => {
    expect(describeOptions({ model: OPTIONS.model, stop: OPTIONS.stop, json: OPTIONS.json })).toBe(
      ['  --model M      a model', '  --stop TEXT …  a stop string', '  --json         JSON'].join('\n'),
    );
  });
});

describe('nearest', () => {
  it('takes the smallest edit distance', () => {
    expect(nearest('temprature', ['seed', 'temperature', 'tokens'])).toBe('temperature');
    expect(nearest('tokn', ['token', 'tok'])).toBe('token');
  });
});
