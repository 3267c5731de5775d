// The same rows written in several layouts, and what queries read of each.

import { useState } from "preact/hooks";
import { Asked } from "./answer";
import { place, question } from "./store";

const ROWS = 100_000;

export function LayoutsView() {
  const form = question("scan estimate"), { table, filter, snapshot } = place.value;
  const [queries, setQueries] = useState(filter), [rows, setRows] = useState(ROWS);
  const [run, setRun] = useState<{ n: number; arguments: Record<string, unknown> } | null>(null);
  if (!form) return null;
  const start = () => {
    const where = queries.split("\n").map((one) => one.trim()).filter(Boolean);
    setRun((before) => ({ n: (before?.n ?? 0) + 1, arguments: { where, write: true, rows, ...(snapshot ? { snapshot } : {}) } }));
  };
  return (
    <div class="operations">
      <p class="muted">Spark writes the rows into the sandbox, unsorted and in four layouts, and drops them again. The table is only read.</p>
      <div class="fields">
        <label class="field tall wide"><span>Filters, one a line (none: some are drawn from the rows)</span>
          <textarea rows={4} spellcheck={false} value={queries} onInput={(event) => setQueries(event.currentTarget.value)} /></label>
        <label class="field"><span>Rows at most</span>
          <input type="number" min={1} value={rows} onChange={(event) => setRows(event.currentTarget.valueAsNumber || ROWS)} /></label>
        <button type="button" class="primary" onClick={start}>Write and compare</button>
      </div>
      {run && <Asked key={run.n} question={{ question: form.name, table, arguments: run.arguments }} form={form} />}
    </div>
  );
}
