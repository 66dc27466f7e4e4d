// `using` and `[Symbol.dispose]` where the browser has neither (Safari): imported before anything that defines a
// disposable class. To be deleted when Safari ships explicit resource management.
(Symbol as { dispose?: symbol }).dispose ??= Symbol.for('Symbol.dispose');
