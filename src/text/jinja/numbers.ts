// Numbers that JavaScript has no kind of: Python prints them as they were written. They load without the template engine.

/** Python prints 1.0 where JavaScript has 1. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
  /** Calls are written as JSON for a template that knows none. */
  toJSON(): number {
    return this.value;
  }
}

/** A whole number beyond 2**53, in digits: it is printed, and not calculated with. */
export class LongInteger {
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }
  /** As for `Float`; it is rounded there. */
  toJSON(): number {
    return Number(this.digits);
  }
}
