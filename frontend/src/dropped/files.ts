// What a person drops: a folder, files, or a zip of them. Only metadata is read, and each file when it is needed.

import { Gunzip, unzipSync } from "fflate";
import { causeOf, checked, inPortions, Unreadable } from "./avro";

// The dropped files: `path` is that in what was dropped, without a slash before it.
export interface DroppedFile {
  path: string;
  read: () => Promise<Uint8Array>;
}

export const METADATA_NAME = /^(?:.+\.)?metadata\.json(?:\.gz)?$/;
const WANTED = /(?:^|\/)(?:version-hint\.text|[^/]*metadata\.json(?:\.gz)?|[^/]+\.avro)$/;
const MOST_NAMES = 1_000_000, MOST_UNZIPPED = 1 << 30, MOST_JSON = 1 << 28;

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

// The files of a form's field, in which a folder or some files were chosen.
export async function filesOfList(list: Iterable<File>): Promise<DroppedFile[]> {
  return unzipped([...list].map((file) => ({ path: file.webkitRelativePath || file.name, read: () => bytesOf(file) })));
}

// The files of a drop, also those in folders.
export async function filesOfDrop(items: DataTransferItemList): Promise<DroppedFile[]> {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);  // before the first wait
  const found: DroppedFile[] = [];
  while (entries.length) {
    const entry = entries.pop();
    if (found.length > MOST_NAMES) throw new Unreadable(`more than ${MOST_NAMES.toLocaleString("en")} files were dropped`);
    if (entry instanceof FileSystemDirectoryEntry) entries.push(...(await inFolder(entry)));
    else if (entry instanceof FileSystemFileEntry) {
      const file = (): Promise<File> => new Promise((take, refuse) => entry.file(take, refuse));
      found.push({ path: entry.fullPath.replace(/^\//, ""), read: async () => bytesOf(await file()) });
    }
  }
  return unzipped(found);
}

async function inFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader(), all: FileSystemEntry[] = [];
  for (;;) {  // a browser gives a hundred at a time
    const some = await new Promise<FileSystemEntry[]>((take, refuse) => reader.readEntries(take, refuse));
    if (!some.length) return all;
    all.push(...some);
  }
}

async function bytesOf(file: File): Promise<Uint8Array> {
  return new Uint8Array(await file.arrayBuffer());
}

// The files in zip archives instead of these; what is no metadata is left in them.
async function unzipped(dropped: DroppedFile[]): Promise<DroppedFile[]> {
  const all: DroppedFile[] = [];
  for (const file of dropped) {
    if (!file.path.toLowerCase().endsWith(".zip")) {
      all.push(file);
      continue;
    }
    all.push(...membersOf(await file.read(), file.path));
  }
  return all.filter(({ path }) => isWanted(path));
}

// What a zip has of metadata. Where one member cannot be unpacked, each is on its own, when it is read: the others are there.
function membersOf(zip: Uint8Array, name: string): DroppedFile[] {
  const members: DroppedFile[] = [], memory = new Map<string, Uint8Array>();
  let size = 0;
  unzipSync(zip, {
    filter: (member) => {
      if (!isWanted(member.name.replaceAll("\\", "/"))) return false;
      if ((size += member.originalSize) > MOST_UNZIPPED) throw new Unreadable(`${name} is greater than this page reads, unpacked`);
      const read = async (): Promise<Uint8Array> => {
        const known = memory.get(member.name);
        if (known) return known;
        try {
          const data = unzipSync(zip, { filter: (one) => one.name === member.name })[member.name] ?? new Uint8Array();
          memory.set(member.name, data);
          return data;
        } catch (error) {
          throw new Unreadable(`its place in the zip is damaged: ${causeOf(error)}`);
        }
      };
      members.push({ path: member.name.replaceAll("\\", "/"), read });
      return false;
    },
  });
  try {
    const names = new Set(members.map(({ path }) => path));
    for (const [path, data] of Object.entries(unzipSync(zip, { filter: (one) => names.has(one.name.replaceAll("\\", "/")) }))) memory.set(path, data);
  } catch {
    memory.clear();
  }
  return members;
}

// Metadata, but not what macOS puts beside each file.
function isWanted(path: string): boolean {
  return WANTED.test(path) && !path.startsWith("__MACOSX/") && !baseName(path).startsWith("._");
}

// The text of a metadata file, gzipped or not.
export function textOf(data: Uint8Array): string {
  const isPacked = data[0] === 0x1f && data[1] === 0x8b;
  const plain = isPacked ? checked(inPortions(data, MOST_JSON, (given) => new Gunzip(given)), new DataView(data.buffer, data.byteOffset + data.length - 8, 4).getUint32(0, true)) : data;
  return new TextDecoder("utf-8", { fatal: true }).decode(plain);
}
