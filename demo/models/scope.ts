// What the bundled models can do: they have up to 2.8 million weights and were trained on word problems of one kind.

export const SCOPE =
  'The bundled models have at most 2.8 million weights. They solve word problems like the examples, and nothing else.';

/** The smallest of the catalogue that chats, and its weights were run. */
export const GENERAL_MODEL = 'smollm2-135m';

const OTHER =
  /^\s*(who|why|when|where|which|explain|write|translate|summari[sz]e|tell|define|list|give|fix|rename|add)\b/i;

/** Whether a question could go on with one of their problems: nothing that asks for something else. */
export const isFollowUp = (question: string): boolean => !OTHER.test(question);

/** Whether a question could be one of their problems: amounts, and nothing that asks for something else. */
export const isWordProblem = (question: string): boolean => /\d/.test(question) && isFollowUp(question);
