// In place of the grammar engine in the widget's single file, which would be twice as large with it. A constraint is refused
// there (constraint/xgrammar.ts).
export const TokenizerInfo = undefined;
