// Gives Safari `Symbol.dispose`, which `using` needs. It is imported before any module that defines a disposable class.
// To be deleted when Safari ships explicit resource management.
(Symbol as { dispose?: symbol }).dispose ??= Symbol.for('Symbol.dispose');
