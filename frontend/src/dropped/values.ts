// Partition values as people read them, as pyiceberg's transforms write them.

import type { Int } from "./json";

const CALENDAR = new Set(["year", "month", "day", "hour"]), FLOATS = new Set(["float", "double"]);

function two(number: number): string {
  return String(number).padStart(2, "0");
}

function floorDivide(value: bigint, by: bigint): bigint {
  const whole = value / by;
  return value % by < 0n ? whole - 1n : whole;
}

// A year with four digits; before the year 0 its minus is one of `width`.
function yearText(year: bigint, width = 4): string {
  return year < 0n ? `-${String(-year).padStart(width - 1, "0")}` : String(year).padStart(4, "0");
}

// Year, month and day of so many days since 1970, of any year of the proleptic Gregorian calendar.
function civil(days: bigint): [bigint, number, number] {
  const cycle = 146_097n, since = days + 719_468n, cycles = floorDivide(since, cycle), day = Number(since - cycles * cycle);
  const year = Math.floor((day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365);
  const ofYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100)), month = Math.floor((5 * ofYear + 2) / 153);
  const civilMonth = month < 10 ? month + 3 : month - 9;
  return [BigInt(year) + cycles * 400n + (civilMonth <= 2 ? 1n : 0n), civilMonth, ofYear - Math.floor((153 * month + 2) / 5) + 1];
}

function dateText(days: bigint, width = 4): string {
  const [year, month, day] = civil(days);
  return `${yearText(year, width)}-${two(month)}-${two(day)}`;
}

function isFar(days: bigint): boolean {
  const [year] = civil(days);
  return year < 1n || year > 9999n;
}

// The time of a day, with as many digits of a second as are given; none of a whole second, unless all are asked for.
function timeText(parts: bigint, digits: number, isFull = false): string {
  const unit = 10n ** BigInt(digits), seconds = Number(parts / unit), rest = parts % unit;
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return rest || isFull ? `${clock}.${String(rest).padStart(digits, "0")}` : clock;
}

// A timestamp in ISO form, of its parts of a second since 1970: `digits` is 6 of microseconds, 9 of nanoseconds.
function timestampText(parts: bigint, digits: number, isUtc: boolean): string {
  const day = 86_400n * 10n ** BigInt(digits), days = floorDivide(parts, day), time = parts - days * day;
  if (isFar(days)) return `${dateText(days, 5)} ${timeText(time, digits, true)}${isUtc ? "Z" : ""}`;
  return `${dateText(days)}T${timeText(time, digits)}${isUtc ? "+00:00" : ""}`;
}

// Floats as Python writes them.
function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (size && (size >= 1e16 || size < 1e-4)) return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return Object.is(value, -0) ? "-0.0" : Number.isInteger(value) ? `${value}.0` : String(value);
}

function decimalText(data: Uint8Array, scale: number): string {
  let unscaled = 0n;
  for (const byte of data) unscaled = (unscaled << 8n) | BigInt(byte);
  unscaled = BigInt.asIntN(8 * data.length, unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0"), sign = unscaled < 0n ? "-" : "";
  return sign + (scale ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits);
}

function hexOf(data: Uint8Array): string {
  return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64Of(data: Uint8Array): string {
  return btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(""));
}

function uuidText(data: Uint8Array): string {
  return hexOf(data).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// One partition value in words: month 650 is 2024-03, null is "null".
//   value: as Avro stores it. transform: of the partition field. type: of the source column, as metadata has it; undefined
//   where no schema has the column any more. kind: the type that Avro has for the value.
export function partitionText(value: unknown, transform: string, type: unknown, kind = ""): string {
  if (value === null || value === undefined || transform === "void") return "null";
  try {
    return typeof type === "string" || CALENDAR.has(transform) ? byType(value, transform, String(type), kind) : byKind(value, kind);
  } catch {  // a value that does not fit the type
    return byKind(value, kind);
  }
}

// As the column's type has it.
function byType(value: unknown, transform: string, type: string, kind: string): string {
  if (value instanceof Uint8Array) {
    const decimal = /^decimal\(\s*\d+\s*,\s*(\d{1,3})\s*\)$/.exec(type);
    if (decimal) return decimalText(value, Number(decimal[1]));
    return type === "uuid" && value.length === 16 ? uuidText(value) : base64Of(value);
  }
  if (typeof value === "boolean" || typeof value === "string") return String(value);
  if (typeof value === "number" && ([type, kind].some((one) => FLOATS.has(one)) || !Number.isInteger(value))) return floatText(value);
  const whole = BigInt(value as Int), shown = transform === "identity" ? type : transform;
  switch (shown) {
    case "year": return yearText(1970n + whole);
    case "month": {
      const years = floorDivide(whole, 12n);
      return `${yearText(1970n + years)}-${two(Number(whole - 12n * years) + 1)}`;
    }
    case "day": return dateText(whole);
    case "date": return dateText(whole, 5);
    case "hour": {
      const days = floorDivide(whole, 24n);
      return `${dateText(days)}-${two(Number(whole - 24n * days))}`;
    }
    case "timestamp": case "timestamptz": return timestampText(whole, 6, shown === "timestamptz");
    case "timestamp_ns": case "timestamptz_ns": return timestampText(whole, 9, shown === "timestamptz_ns");
    case "time": return timeText(whole - floorDivide(whole, 86_400_000_000n) * 86_400_000_000n, 6);
  }
  return String(whole);
}

// As Avro's type has it.
function byKind(value: unknown, kind: string): string {
  if (value instanceof Uint8Array) {
    const decimal = /^decimal (\d{1,3})$/.exec(kind);
    return decimal ? decimalText(value, Number(decimal[1])) : `0x${hexOf(value)}`;
  }
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number" && (FLOATS.has(kind) || !Number.isInteger(value))) return floatText(value);
  if (typeof value !== "number" && typeof value !== "bigint") return typeof value === "string" ? value : "unknown";
  if (kind === "date") return dateText(BigInt(value), 5);
  if (kind.startsWith("timestamp-micros")) return timestampText(BigInt(value), 6, kind.endsWith(" in UTC")).replace("T", " ");
  return String(value);
}
