import { expect, test } from 'vitest';
import { Conversation } from './conversation.ts';

const held = (): Conversation => {
  const talk = new Conversation();
  talk.ask('One?');
  talk.answer('1');
  talk.ask('Two?');
  talk.answer('2');
  return talk;
};

test('the model is asked everything so far, with the system prompt before it', () => {
  const talk = held();
  talk.ask('Three?');
  const all = () => talk.asked(talk.exchanges.flat());
  expect(all().map(({ content }) => content)).toEqual(['One?', '1', 'Two?', '2', 'Three?']);
  talk.system = ' Be short. ';
  expect(all()[0]).toEqual({ role: 'system', content: 'Be short.' });
  expect(all()).toHaveLength(6);
});

test('what did not fit is forgotten whole, a question with its answer, until it is written anew', () => {
  const talk = held();
  talk.ask('Unanswered?');
  talk.ask('Four?');
  const seen = () => talk.exchanges.map((turns) => turns.map(({ content }) => content));
  expect(seen()).toEqual([['One?', '1'], ['Two?', '2'], ['Unanswered?']]);
  talk.forget(2);
  expect(talk.forgotten).toBe(4);
  expect(seen()).toEqual([['Unanswered?']]);
  talk.edit(5, 'Five?');
  expect(talk.forgotten).toBe(4);
  expect(seen()).toEqual([['Unanswered?']]);
  talk.edit(2, 'Zwei?');
  expect(talk.forgotten).toBe(0);
  expect(seen()).toEqual([['One?', '1']]);
});

test('an edited question takes what followed it along', () => {
  const talk = held();
  talk.edit(0, 'Uno?');
  expect(talk.turns).toEqual([{ role: 'user', content: 'Uno?' }]);
  const later = held();
  later.edit(2, 'Due?');
  expect(later.turns.map(({ content }) => content)).toEqual(['One?', '1', 'Due?']);
});

test('asking once more drops the last answer only, and a stopped answer of no words is none', () => {
  const talk = held();
  expect(talk.retry()).toBe(true);
  expect(talk.turns.map(({ content }) => content)).toEqual(['One?', '1', 'Two?']);
  talk.answer('');
  expect(talk.turns).toHaveLength(3);
  expect(talk.retry()).toBe(true);
  expect(talk.turns).toHaveLength(3);
  talk.clear();
  expect(talk.retry()).toBe(false);
});
