// SHA-256 in hexadecimal: what stored chunks and bundled files are checked by.

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));

export const sha256OfText = (text: string): Promise<string> => sha256(new TextEncoder().encode(text));
