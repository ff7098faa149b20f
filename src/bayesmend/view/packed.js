// Arrays that a page holds as text: little-endian, in base 64.

const KINDS = { f8: Float64Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };

/** Unpack an array of one of the kinds f8, i4, u2, u1. */
export function unpack(text, kind) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new KINDS[kind](bytes.buffer);
}
