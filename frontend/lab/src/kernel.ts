// What Spark sessions of a notebook's kernel have. The kernel is asked without code: it computes a value, and nothing in
// it changes, neither its variables nor its history nor the settings of a session.

import type { Kernel } from "@jupyterlab/services";

export interface SparkCatalogs {
  // The variable that holds the session.
  variable: string;
  catalogs: string[];
}

const CATALOG = String.raw`^spark\.sql\.catalog\.([^.]+)$`;
// Spark's settings are asked for their names alone: what they hold may be secret, and stays in the kernel.
const SESSIONS = `[
  {"variable": name, "catalogs": sorted({
    found[1] for row in value.sql("SET").collect() for found in [__import__("re").match(${pythonText(CATALOG)}, row[0])] if found
  })}
  for name, value in sorted(globals().items())
  if not name.startswith("_") and type(value).__name__ == "SparkSession" and type(value).__module__.startswith("pyspark.sql.")
]`;

// A text as a literal of Python that no text can leave.
export function pythonText(text: string): string {
  const codes = [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `bytes.fromhex("${codes.join("")}").decode()`;
}

// A text as a literal of Python that a person reads: no sign in it turns the line around or ends it.
export function cellText(text: string): string {
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0, digits = code.toString(16);
    return code > 0xffff ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });
}

// Sessions, and the catalogs that they have. A key of a kernel's globals need not be a name.
export async function sparkSessions(kernel: Kernel.IKernelConnection): Promise<SparkCatalogs[]> {
  const sessions = (await valueOf(kernel, SESSIONS)) as SparkCatalogs[];
  return sessions.filter(({ variable }) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(variable));
}

// Namespaces of a catalog.
export async function sparkNamespaces(kernel: Kernel.IKernelConnection, variable: string, catalog: string): Promise<string[]> {
  return (await rowsOf(kernel, variable, `SHOW NAMESPACES IN ${quoted(catalog)}`, "row[0]")) as string[];
}

// Tables of a namespace, which is given as Spark prints it.
export async function sparkTables(kernel: Kernel.IKernelConnection, variable: string, catalog: string, space: string): Promise<string[]> {
  return (await rowsOf(kernel, variable, `SHOW TABLES IN ${quoted(catalog)}.${space}`, "row[1]")) as string[];
}

function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

function rowsOf(kernel: Kernel.IKernelConnection, variable: string, statement: string, value: string): Promise<unknown> {
  return valueOf(kernel, `[${value} for row in globals()[${pythonText(variable)}].sql(${pythonText(statement)}).collect()]`);
}

// The value of an expression, which comes as the hexadecimal digits of JSON: so no part of it is left out.
async function valueOf(kernel: Kernel.IKernelConnection, expression: string): Promise<unknown> {
  const asked = `__import__("json").dumps(${expression.replace(/\s*\n\s*/g, " ")}).encode().hex()`;
  const future = kernel.requestExecute(
    { code: "", silent: true, store_history: false, user_expressions: { asked }, allow_stdin: false, stop_on_error: false }, true,
  );
  const { content } = await future.done;
  if (content.status !== "ok") throw new Error("The kernel did not answer.");
  const told = content.user_expressions["asked"] as { status: string; data?: { "text/plain"?: string }; evalue?: string };
  const digits = /^'([0-9a-f]*)'$/.exec(told.data?.["text/plain"] ?? "")?.[1];
  if (told.status !== "ok" || digits === undefined) throw new Error((told.evalue ?? "Spark did not answer.").slice(0, 300));
  const bytes = Uint8Array.from(digits.match(/../g) ?? [], (two) => Number.parseInt(two, 16));
  return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
}
