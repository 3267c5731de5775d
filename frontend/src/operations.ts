// Which fields an operation has.

const SORTS = ["compact-sort", "compact-z-order"], REWRITES = ["compact", ...SORTS, "rewrite-position-deletes"];
const ONLY_LOOKED_AT = ["next-append", "dangling-deletes"];
const WITHOUT_NAME = ["rollback", "rollback-to-time", "set-current", "cherry-pick"], WITHOUT_SNAPSHOT = ["drop", "publish"];

// Whether no procedure does it.
export function isOnlyLookedAt(operation: string): boolean {
  return ONLY_LOOKED_AT.includes(operation);
}

// The parameters of a question that mean nothing to an operation.
export function hiddenFields(question: string, operation: string): string[] {
  if (question === "refs preview") {
    return [...(WITHOUT_NAME.includes(operation) ? ["name"] : []), ...(WITHOUT_SNAPSHOT.includes(operation) ? ["snapshot"] : [])];
  }
  return [
    "engine", ...(SORTS.includes(operation) ? [] : ["sort_by"]), ...(operation === "expire" ? [] : ["retain_last"]),
    ...(REWRITES.includes(operation) ? [] : ["where"]), ...(isOnlyLookedAt(operation) ? ["option"] : []),
  ];
}
