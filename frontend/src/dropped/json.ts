// JSON and Avro have integers of 64 bits, and a number of JavaScript holds 53. Greater ones are a BigInt; the same integer
// is always of the same type, so === compares.

export type Int = number | bigint;

export function intOf(value: bigint): Int {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

export function compareInts(a: Int, b: Int): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// Parse JSON without rounding its integers.
export function readJson(text: string): unknown {
  const revive = (_: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    if (context?.source === undefined) throw new Error("This browser rounds integers of 64 bits: take a newer one.");
    return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
  };
  return JSON.parse(text, revive);
}

export type Json = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function int(value: unknown): Int | null {
  return typeof value === "bigint" || Number.isSafeInteger(value) ? (value as Int) : null;
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
