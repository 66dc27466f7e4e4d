import { expect, test } from 'vitest';
import { Conversation } from './conversation.ts';

const twoExchanges = (): Conversation => {
  const talk = new Conversation();
  talk.ask('One?');
  talk.answer('1');
  talk.ask('Two?');
  talk.answer('2');
  return talk;
};

test('the prompt has all messages so far, after the system prompt', () => {
  const talk = twoExchanges();
  talk.ask('Three?');
  const all = () => talk.asked(talk.exchanges.flat());
  expect(all().map(({ content }) => content)).toEqual(['One?', '1', 'Two?', '2', 'Three?']);
  talk.system = ' Be short. ';
  expect(all()[0]).toEqual({ role: 'system', content: 'Be short.' });
  expect(all()).toHaveLength(6);
});

test('a question that does not fit is dropped with its answer, until it is edited', () => {
  const talk = twoExchanges();
  talk.ask('Unanswered?');
  talk.ask('Four?');
  const seen = () => talk.exchanges.map((messages) => messages.map(({ content }) => content));
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

test('a question without an answer and the one after it are one message: many templates want the roles in turn', () => {
  const talk = twoExchanges();
  talk.ask('Unanswered?');
  talk.answer('');
  talk.ask('Four?');
  expect(talk.asked(talk.exchanges.flat())).toEqual([
    { role: 'user', content: 'One?' },
    { role: 'assistant', content: '1' },
    { role: 'user', content: 'Two?' },
    { role: 'assistant', content: '2' },
    { role: 'user', content: 'Unanswered?\n\nFour?' },
  ]);
});

test('editing a question removes the messages after it', () => {
  const talk = twoExchanges();
  talk.edit(0, 'Uno?');
  expect(talk.messages).toEqual([{ role: 'user', content: 'Uno?' }]);
  const later = twoExchanges();
  later.edit(2, 'Due?');
  expect(later.messages.map(({ content }) => content)).toEqual(['One?', '1', 'Due?']);
});

test('asking again removes the last answer only, and an empty answer is not kept', () => {
  const talk = twoExchanges();
  expect(talk.retry()).toBe(true);
  expect(talk.messages.map(({ content }) => content)).toEqual(['One?', '1', 'Two?']);
  talk.answer('');
  expect(talk.messages).toHaveLength(3);
  expect(talk.retry()).toBe(true);
  expect(talk.messages).toHaveLength(3);
  expect(new Conversation().retry()).toBe(false);
});

test('a question is taken back while it has no answer', () => {
  const talk = twoExchanges();
  expect(talk.takeBack()).toBe('');
  talk.ask('Three?');
  expect(talk.takeBack()).toBe('Three?');
  expect(talk.messages.map(({ content }) => content)).toEqual(['One?', '1', 'Two?', '2']);
});
