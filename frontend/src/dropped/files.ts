// What a person drops: a folder, files, or a zip of them. Only metadata is read, and each file when it is needed.

import { Gunzip, Inflate } from "fflate";
import { causeOf, checked, inPortions, Unreadable } from "./avro";

// The dropped files: `path` is that in what was dropped, without a slash before it.
export interface DroppedFile {
  path: string;
  read: () => Promise<Uint8Array>;
}

export const METADATA_NAME = /^(?:.+\.)?metadata\.json(?:\.gz)?$/;
const WANTED = /(?:^|\/)(?:version-hint\.text|[^/]*metadata\.json(?:\.gz)?|[^/]+\.avro)$/;
const MOST_NAMES = 1_000_000, MOST_UNZIPPED = 1 << 30, MOST_JSON = 1 << 28;
const END = 0x06054b50, END_64 = 0x07064b50, LISTED = 0x02014b50, LOCAL = 0x04034b50, ELSEWHERE = 0xffffffff, LONGEST_END = 65_557;

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

interface Member {
  name: string;
  method: number;
  packed: number;
  size: number;
  at: number;  // of its local header
}

// What a zip has of metadata. Each member is unpacked when it is read, to no more bytes than the zip says of it.
function membersOf(zip: Uint8Array, name: string): DroppedFile[] {
  const members = directoryOf(zip).filter((member) => isWanted(member.name));
  const sum = (of: (member: Member) => number): number => members.reduce((total, member) => total + of(member), 0);
  if (sum(({ size }) => size) > MOST_UNZIPPED) throw new Unreadable(`${name} is greater than this page reads, unpacked`);
  if (sum(({ packed }) => packed) > zip.length) throw new Unreadable(`${name} is damaged: files in it share their bytes`);
  const memory = new Map<Member, Uint8Array>();
  return members.map((member) => ({
    path: member.name,
    read: async () => {
      const data = await Promise.resolve(memory.get(member) ?? unpackedMember(zip, member));
      memory.set(member, data);
      return data;
    },
  }));
}

// The members that the directory at a zip's end lists (APPNOTE 6.3: "Central directory structure", "Zip64").
function directoryOf(zip: Uint8Array): Member[] {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength), members: Member[] = [];
  let end = zip.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== END) end = zip.length - end > LONGEST_END ? -1 : end - 1;
  if (end < 0) throw new Unreadable("it is no zip, or it is cut off");
  let at = view.getUint32(end + 16, true);
  if (end >= 20 && view.getUint32(end - 20, true) === END_64) at = Number(view.getBigUint64(Number(view.getBigUint64(end - 12, true)) + 48, true));
  while (at + 46 <= end && view.getUint32(at, true) === LISTED) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) => view.getUint16(at + place, true)) as [number, number, number];
    const label = view.getUint16(at + 8, true) & 2048 ? "utf-8" : "latin1";
    const name = new TextDecoder(label).decode(zip.subarray(at + 46, at + 46 + nameLength)).replaceAll("\\", "/");
    const large = largeNumbers(view, at + 46 + nameLength, extraLength);
    const [size, packed, local] = [24, 20, 42].map((place) => {
      const number = view.getUint32(at + place, true);
      return number === ELSEWHERE ? large.shift() ?? number : number;
    }) as [number, number, number];
    members.push({ name, method: view.getUint16(at + 10, true), packed, size, at: local });
    at += 46 + nameLength + extraLength + commentLength;
    if (members.length > MOST_NAMES) throw new Unreadable(`it has more than ${MOST_NAMES.toLocaleString("en")} files`);
  }
  return members;
}

// The numbers of a member that have no room in 32 bits.
function largeNumbers(view: DataView, start: number, length: number): number[] {
  for (let at = start; at + 4 <= start + length;) {
    const size = view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === 1) return Array.from({ length: Math.floor(size / 8) }, (_, n) => Number(view.getBigUint64(at + 4 + 8 * n, true)));
    at += 4 + size;
  }
  return [];
}

function unpackedMember(zip: Uint8Array, { method, packed, size, at }: Member): Uint8Array {
  try {
    const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
    if (view.getUint32(at, true) !== LOCAL) throw new Unreadable("it does not begin where it is listed");
    const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true), data = zip.subarray(start, start + packed);
    if (method === 0) return data;
    if (method !== 8) throw new Unreadable(`this page does not read the method ${method}`);
    return inPortions(data, size, (given) => new Inflate(given));
  } catch (error) {
    throw new Unreadable(`its place in the zip is damaged: ${causeOf(error)}`);
  }
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
