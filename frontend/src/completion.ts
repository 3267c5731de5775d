// What can stand where one writes a filter (docs/filters.md) or SQL. No page is needed for it.

export interface NamedColumn {
  name: string;
  type: string;
}

export interface Offer {
  label: string;
  detail: string;
  // What is written; the cursor goes to the sign ¦, or else to the end.
  text: string;
  kind: "column" | "function" | "word";
}

const TOKEN = /'(?:[^']|'')*'?|"(?:[^"\\]|\\.)*"?|`(?:[^`]|``)*`?|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[^\W\d]\w*(?:-\w+)*|<=|>=|<>|!=|==|[=<>(),.]/g;
const COMPARISONS = new Set(["=", "==", "!=", "<>", "<", "<=", ">", ">="]);
const TRANSFORMS = new Set(["year", "month", "day", "hour", "bucket", "truncate"]);
const OPERATORS: readonly Offer[] = [
  word("=", "is equal"), word("!=", "is not equal; also true for null, as Iceberg plans"), word("<", "is less"), word("<=", "is at most"),
  word(">", "is greater"), word(">=", "is at least"), word("IN (…)", "is one of", "IN (¦)"), word("NOT IN (…)", "is none of", "NOT IN (¦)"),
  word("BETWEEN … AND …", "both ends belong to it", "BETWEEN ¦ AND "), word("LIKE '…%'", "begins with", "LIKE '¦%'"),
  word("NOT LIKE '…%'", "does not begin with", "NOT LIKE '¦%'"), word("IS NULL", ""), word("IS NOT NULL", ""), word("IS NAN", ""), word("IS NOT NAN", ""),
];
const FUNCTIONS: readonly Offer[] = [
  call("year", "of a date or time, such as '2024'"), call("month", "such as '2024-03'"), call("day", "such as '2024-03-01'"),
  call("hour", "such as '2024-03-01-10'"), call("bucket", "of so many", "bucket(16, ¦)"), call("truncate", "the first letters, or a multiple", "truncate(3, ¦)"),
];
const SQL_WORDS = ["SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN", "ON", "AS", "AND", "OR", "NOT", "IN",
  "BETWEEN", "LIKE", "IS NULL", "IS NOT NULL", "COUNT(*)", "DISTINCT", "CASE WHEN", "THEN", "ELSE", "END", "UNION ALL", "WITH", "DESC"];
const SQL_FUNCTIONS = ["count", "sum", "min", "max", "avg", "date_trunc", "coalesce", "cast", "concat", "substring", "round", "abs", "length", "lower", "upper", "hash"];

function word(label: string, detail: string, text = `${label} `): Offer {
  return { label, detail, text, kind: "word" };
}

function call(name: string, detail: string, text = `${name}(¦)`): Offer {
  return { label: `${name}(…)`, detail, text, kind: "function" };
}

const RESERVED = /^(?:and|or|not|in|is|null|nan|like|between|true|false)$/i;

// A column's name as filters and Spark SQL read it.
export function columnText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !RESERVED.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}

// The path of a column (address.city) as a filter has it.
export function pathText(path: string): string {
  return path.split(".").every((part) => columnText(part) === part) ? path : columnText(path);
}

type State = "operand" | "operator" | "value" | "connective" | "text";

// What may follow a part of a filter: an operand, an operator, a value, AND or OR; `text` inside quotes.
export function stateAfter(before: string): State {
  const open: ("values" | "transform" | "group")[] = [];
  let state: State = "operand", last = "";
  for (const [token] of before.matchAll(TOKEN)) {
    const low = token.toLowerCase(), isText = token.startsWith("'"), isNumber = /^[+-]?[\d.]+/.test(token) && token !== ".";
    if (isText && (token.length < 2 || !token.endsWith("'"))) return "text";
    const next = stateOf(token, low, state, last, open.at(-1), isText || isNumber);
    if (token === "(") open.push(TRANSFORMS.has(last) ? "transform" : state === "value" ? "values" : "group");
    else if (token === ")") open.pop();
    state = next;
    last = last === "between" ? "between value" : isNumber ? "number" : low;
  }
  return state;
}

function stateOf(token: string, low: string, state: State, last: string, inside: string | undefined, isLiteral: boolean): State {
  if (low === "and" && last === "between value") return "value";
  if (low === "and" || low === "or") return "operand";
  if (low === "not" || low === "is") return state;
  if (low === "null" || low === "nan") return "connective";
  if (COMPARISONS.has(token) || low === "in" || low === "like" || low === "between") return "value";
  if (token === "(") return TRANSFORMS.has(last) || state !== "value" ? "operand" : "value";
  if (token === ")") return inside === "transform" ? "operator" : "connective";
  if (token === ",") return inside === "transform" && last === "number" ? "operand" : "value";
  if (token === ".") return "operand";
  if (isLiteral) return state !== "operand" ? "connective" : inside === "transform" ? "operand" : "operator";
  return state === "value" ? "connective" : "operator";
}

// What is offered at a place of a filter, and where what it replaces begins; null where nothing can be.
export function offersAt(text: string, at: number, columns: readonly NamedColumn[]): { from: number; offers: Offer[] } | null {
  const typed = /[\w.]*$/.exec(text.slice(0, at))?.[0] ?? "", from = at - typed.length;
  const state = stateAfter(text.slice(0, from)), all = new Map<State, Offer[]>([
    ["operand", [...columnsOf(columns, pathText), ...FUNCTIONS, word("NOT", "the opposite of what follows")]],
    ["operator", [...OPERATORS]],
    ["connective", [word("AND", "both"), word("OR", "one of them, or both")]],
  ]).get(state);
  const offers = matching(all ?? [], typed);
  return offers.length ? { from, offers } : null;
}

// What is offered at a place of SQL.
export function sqlOffersAt(text: string, at: number, columns: readonly NamedColumn[], versions: readonly string[]): { from: number; offers: Offer[] } | null {
  const before = text.slice(0, at);
  if ((before.match(/'/g)?.length ?? 0) % 2) return null;
  const version = /\bt@([\w-]*)$/.exec(before);
  if (version) {
    const named = versions.map((name): Offer => ({ label: name, detail: "version", text: name, kind: "word" }));
    return { from: at - (version[1]?.length ?? 0), offers: matching(named, version[1] ?? "") };
  }
  const typed = /[\w.]*$/.exec(before)?.[0] ?? "";
  const offers = matching([
    ...columnsOf(columns, pathText),
    { label: "t", detail: "this table; t@snapshot-1 is a version of it", text: "t", kind: "word" },
    ...SQL_FUNCTIONS.map((name): Offer => ({ label: name, detail: "function", text: `${name}(¦)`, kind: "function" })),
    ...SQL_WORDS.map((name) => word(name, "")),
  ], typed);
  return typed && offers.length ? { from: at - typed.length, offers } : null;
}

function columnsOf(columns: readonly NamedColumn[], written: (name: string) => string): Offer[] {
  return columns.map(({ name, type }): Offer => ({ label: name, detail: type, text: `${written(name)} `, kind: "column" }));
}

function matching(offers: readonly Offer[], typed: string): Offer[] {
  const low = typed.toLowerCase(), [starts, others]: [Offer[], Offer[]] = [[], []];
  for (const one of offers) {
    const label = one.label.toLowerCase();
    if (label === low) continue;
    if (label.startsWith(low)) starts.push(one);
    else if (one.kind === "column" && low.length > 1 && label.includes(low)) others.push(one);
  }
  return [...starts, ...others].slice(0, 60);
}

// The place that a message names: in Spark's words "(line 1, pos 9)"; the whole text where it names none.
export function placeIn(text: string, message: string, position?: number): { from: number; to: number } {
  const told = /\(line (\d+), pos (\d+)\)/.exec(message), lines = text.split("\n");
  let from = position ?? -1;
  if (told) from = lines.slice(0, Number(told[1]) - 1).reduce((sum, line) => sum + line.length + 1, 0) + Number(told[2]);
  if (from < 0) return { from: 0, to: text.length };
  from = Math.min(from, Math.max(0, text.length - 1));
  const token = /^(?:'[^']*'?|[\w.]+|\S)/.exec(text.slice(from))?.[0] ?? "";
  return { from, to: Math.min(text.length, from + Math.max(1, token.length)) };
}

// ---- what was entered before ---------------------------------------------------------------------------------------
const MOST = 50;

export function readHistory(kind: string): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(`icedive-history-${kind}`) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one): one is string => typeof one === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

// Remember what was entered, the newest first.
export function noteHistory(kind: string, text: string): void {
  if (!text.trim() || text.length > 10_000) return;
  const kept = [text, ...readHistory(kind).filter((one) => one !== text)].slice(0, MOST);
  try {
    localStorage.setItem(`icedive-history-${kind}`, JSON.stringify(kept));
  } catch {
    // a page that may not keep anything, keeps nothing
  }
}
