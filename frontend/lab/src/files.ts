// What files and folders of the file browser the explorer opens, and where.

import type { Place } from "../../src/place";

export interface Folder {
  // Where it is on the server's machine.
  folder: string;
  // The names of the folders in it that are tables.
  tables: string[];
}

const SNAPSHOT = /^snap-(\d+)-.*\.avro$/, MANIFEST = /-m\d+\.avro$/, METADATA = /\.metadata\.json(\.gz)?$/;

// Whether the explorer opens something with this name.
export function isOpened(name: string, isFolder: boolean, tables: readonly string[]): boolean {
  return isFolder ? tables.includes(name) : [SNAPSHOT, MANIFEST, METADATA].some((one) => one.test(name));
}

// Where the app is at first for something in a folder, in which there are other files. A manifest is shown in the snapshot
// that wrote it, since later ones may have dropped it: the name of that snapshot's list ends as the manifest's begins.
export function placeOfFile(name: string, isFolder: boolean, { folder }: Folder, others: readonly string[] = []): Partial<Place> {
  if (isFolder) return { table: name === "metadata" ? folder : `${folder}/${name}` };
  if (METADATA.test(name)) return { table: `${folder}/${name}` };
  const table = folder.replace(/\/metadata$/, ""), snapshot = SNAPSHOT.exec(name)?.[1];
  if (snapshot) return { table, snapshot };
  const list = others.find((other) => SNAPSHOT.test(other) && other.endsWith(`-${name.replace(MANIFEST, ".avro")}`));
  return { table, find: name, ...(list ? { snapshot: SNAPSHOT.exec(list)?.[1] ?? "" } : {}) };
}
