// What a view needs that changes a table: whether it may, a copy to change, and the table as it is afterwards.

import { useState } from "preact/hooks";
import { isCopy, teachingNameOf } from "./copies";
import { Message, Working } from "./parts";
import { fail, go, header, hello, place, server } from "./store";

// What a view shows that is about a table, where none is open.
export function NoTable() {
  return <p class="empty">Open a table first: press Tables above, or begin with a teaching table.</p>;
}

// The name of the snapshot before the current one; the current one's where there is none.
export function nameBeforeCurrent(): string {
  const told = header.value, at = told?.snapshots.findIndex(({ id }) => id === told.current) ?? -1;
  return told?.snapshots[at + 1]?.name ?? told?.snapshots[at]?.name ?? "";
}

interface CopyAnswer {
  blocks: { kind: string; lines?: string[] }[];
}

// Go to a table, and stay in this view of it.
export function goToCopy(table: string): void {
  const { mode, tab, arguments: given } = place.value;
  go({ table, mode, tab, arguments: given });
}

// Why the open table cannot be changed here, and the button that makes a copy that can. Nothing where it can.
export function CopyFirst() {
  const told = header.value, [isCopying, setCopying] = useState(false);
  if (!told || told.writing === "here") return null;
  if (!hello.value?.rights.lab) return <Message level="ok">This server previews only: it does not write (serve with --allow-lab).</Message>;
  const name = teachingNameOf(told.title);
  if (told.writing !== "copy" || !name) return <Message level="ok">This table is not in the sandbox: nothing is ever written to it.</Message>;
  const copy = () => {
    setCopying(true);
    server().request<CopyAnswer>("ask", { question: "lab copy", arguments: { teaching_table: name } }, "", undefined, true).then(
      ({ blocks }) => {
        const made = blocks.find(({ kind }) => kind === "text")?.lines?.[0];
        if (made) goToCopy(made);
      }, fail).finally(() => setCopying(false));
  };
  return (
    <div class="copy-first">
      <span>{isCopy(told.title) ? "This copy belongs to somebody else." : "A teaching table stays as it is."}</span>
      <button type="button" class="primary" disabled={isCopying} onClick={copy}>Make a copy of my own</button>
      {isCopying && <Working text="Copying…" />}
    </div>
  );
}

// Replace a copy of a teaching table by a new one.
export function ResetCopy() {
  const title = header.value?.title ?? "";
  if (header.value?.writing !== "here" || !isCopy(title)) return null;
  const reset = () => {
    server().request<{ table: string }>("lab", { action: "reset", arguments: { table: place.value.table } }, "", undefined, true).then(
      ({ table }) => goToCopy(table), fail);
  };
  return <button type="button" title="Replace this copy by a new one" onClick={reset}>Reset the copy</button>;
}
