// Which metadata file of a folder is the state of its table: the rules of explorer/storage/folder_state.py.

import { baseName, METADATA_NAME } from "./files";
import { compareInts, type Int } from "./json";

// What a metadata file says of itself; null where it cannot be read.
export interface Head {
  uuid: string;
  updated: Int;
  earlier: string[];
}

const VERSIONED = /^(?:v(\d{1,20})\.|(\d{1,20})-[0-9a-fA-F-]+\.)/;
const HADOOP = /^v(0|[1-9]\d{0,9})(\.metadata\.json|\.gz\.metadata\.json|\.metadata\.json\.gz)$/;
const HADOOP_ENDS = [".metadata.json", ".gz.metadata.json", ".metadata.json.gz"];

// `v3.metadata.json` and `00003-<uuid>.metadata.json` are version 3; -1 is no version.
export function versionOf(name: string): number {
  const match = VERSIONED.exec(name);
  return match && METADATA_NAME.test(name) ? Number(match[1] ?? match[2]) : -1;
}

// Choose among the metadata files of a folder.
//   names: at least one. hint: the first line of version-hint.text, null without one. heads: of all names.
export function chooseState(names: readonly string[], hint: string | null, heads: ReadonlyMap<string, Head>): { name: string; reason: string } {
  const hadoop = new Map<number, string>();
  for (const end of [...HADOOP_ENDS].reverse()) {
    for (const name of names) {
      const match = HADOOP.exec(name);
      if (match?.[2] === end && Number(match[1]) < 2 ** 31) hadoop.set(Number(match[1]), name);
    }
  }
  const number = hint !== null && /^[+-]?\d{1,10}$/.test(hint) ? Number(hint) : null, highest = Math.max(-1, ...hadoop.keys());
  if (number !== null && !hadoop.has(number)) {
    const missing = `version-hint.text says ${number}, and no such file is there: Iceberg fails`;
    const misnamed = names.filter((name) => name.startsWith("v") && versionOf(name) === number);
    if (misnamed.length === 1 && misnamed[0]) return { name: misnamed[0], reason: `${missing}; this is the only file of that version` };
    if (hadoop.size) return { name: hadoop.get(highest) ?? "", reason: `${missing}; this one has the highest version` };
    return { ...latest(names, heads), reason: `${missing}; this one is the newest` };
  }
  if (hadoop.size) {
    let version = number ?? highest;
    while (hadoop.has(version + 1)) version++;
    const reason = number === null ? "it has the highest version" : version === number ? `version-hint.text says ${number}`
      : `version-hint.text says ${number}, and Iceberg goes on while the next version exists: to ${version}`;
    return { name: hadoop.get(version) ?? "", reason };
  }
  const hinted = hint === null ? undefined : names.find((name) => hintsOf(name).includes(hint.trim()));
  return hinted === undefined ? latest(names, heads) : { name: hinted, reason: "version-hint.text names it" };
}

// The hints by which pyiceberg finds a metadata file.
function hintsOf(name: string): string[] {
  const begin = name.endsWith(".metadata.json") ? name.slice(0, -".metadata.json".length) : name;
  return [name, begin, /^v\d+$/.test(begin) ? begin.slice(1) : begin];
}

// The highest version of the table that was updated last.
function latest(names: readonly string[], heads: ReadonlyMap<string, Head>): { name: string; reason: string } {
  const ordered = [...names].sort((a, b) => versionOf(b) - versionOf(a) || (a < b ? 1 : -1)), first = ordered[0] ?? "";
  if (names.length === 1) return { name: first, reason: "it is the only metadata file" };
  const earlier = new Set<string>(), own = new Map<string, Head>();
  for (const name of ordered) {
    const head = heads.get(name);
    if (earlier.has(name) || !head) continue;
    own.set(name, head);
    for (const path of head.earlier) earlier.add(baseName(path));
  }
  for (const name of earlier) own.delete(name);
  if (!own.size || (!heads.has(first) && versionOf(first) > Math.max(...[...own.keys()].map(versionOf)))) {
    return { name: first, reason: `it has the highest version of ${names.length} metadata files` };
  }
  const newest = [...own.values()].reduce((a, b) => (compareInts(b.updated, a.updated) > 0 ? b : a));
  const same = [...own].filter(([, head]) => head.uuid === newest.uuid);
  const [name] = same.reduce((a, b) => (versionOf(b[0]) - versionOf(a[0]) || compareInts(b[1].updated, a[1].updated) || (b[0] > a[0] ? 1 : -1)) > 0 ? b : a);
  const tables = new Set([...own.values()].map(({ uuid }) => uuid)).size;
  return {
    name,
    reason: tables > 1 ? `of the ${tables} tables whose metadata is in this folder this one was updated last`
      : `it has the highest version of ${names.length} metadata files`,
  };
}
