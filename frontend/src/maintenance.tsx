// Maintenance, and operations on branches, tags and the current snapshot: what they would do, and run on sandbox tables.

import { parseArguments } from "./place";
import { useState } from "preact/hooks";
import { Asked } from "./answer";
import { CopyFirst, nameBeforeCurrent, ResetCopy } from "./changing";
import { QuestionForm, type Arguments } from "./form";
import { hiddenFields, isOnlyLookedAt } from "./operations";
import { go, header, hello, place, question, renew } from "./store";

export function MaintenanceView() {
  return <Operations preview="maintain preview" run="maintain run" first={{ operation: "compact" }} />;
}

export function UndoView() {
  return <Operations preview="refs preview" run="refs run" first={{ operation: "rollback", snapshot: nameBeforeCurrent() }} />;
}

function Operations({ preview, run, first }: { preview: string; run: string; first: Arguments }) {
  const looks = question(preview), writes = question(run), at = place.value, told = header.value;
  const [carried, setCarried] = useState<{ n: number; of: string; arguments: Arguments } | null>(null);
  if (!looks || !told) return null;
  const given = at.arguments ? parseArguments(at.arguments) : first, operation = String(given["operation"] ?? "");
  const ask = (next: Arguments) => {
    const hidden = hiddenFields(preview, String(next["operation"] ?? ""));
    go({ arguments: JSON.stringify(Object.fromEntries(Object.entries(next).filter(([name]) => !hidden.includes(name)))) });
  };
  const of = JSON.stringify([at.table, given]), isCarriedOut = carried?.of === of;
  const canRun = writes && told.writing === "here" && !isOnlyLookedAt(operation);
  return (
    <div class="operations">
      <QuestionForm form={looks} given={given} hidden={hiddenFields(preview, operation)} ask={ask} isLive />
      <div class="fields">
        {canRun && <button type="button" class="primary" disabled={isCarriedOut}
          onClick={() => {
            go({ arguments: JSON.stringify(given) }); // what is entered at first depends on the table, which changes
            setCarried((before) => ({ n: (before?.n ?? 0) + 1, of, arguments: given }));
          }}>Run</button>}
        {isCarriedOut && <button type="button" onClick={() => setCarried(null)}>Preview again</button>}
        <ResetCopy />
        {hello.value && <CopyFirst />}
      </div>
      {isCarriedOut && carried && writes
        ? <section aria-label="What it did"><Asked key={`run ${carried.n}`} question={{ question: run, table: at.table, arguments: carried.arguments }}
          form={writes} done={() => void renew()} /></section>
        : <section aria-label="What it would do"><Asked key={`preview ${carried?.n ?? 0}`}
          question={{ question: preview, table: at.table, arguments: given }} form={looks} /></section>}
    </div>
  );
}
