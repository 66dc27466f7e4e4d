// Whether a value is an object as JSON has them: neither null nor a list, a Map or a Date.
export const isObject = (value: unknown): value is Record<string, unknown> =>
  Object.prototype.toString.call(value) === '[object Object]';
