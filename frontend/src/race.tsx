// Writer processes that race for one table, shown while they run; and writers that meet faults.

import { useEffect, useState } from "preact/hooks";
import { Picture } from "./answer";
import { Message, Working } from "./parts";
import { RequestError, type Progress } from "./protocol";
import { SmallTable } from "./small-table";
import { server } from "./store";

const LOOK_MS = 500;

interface Result {
  words: string;
  picture?: string;
  rows?: Record<string, string>[];
}

export function RaceView() {
  const [writers, setWriters] = useState(4), [commits, setCommits] = useState(15);
  const [action, setAction] = useState(""), [progress, setProgress] = useState<Progress | null>(null);
  const [result, setResult] = useState<Result | null>(null), [problem, setProblem] = useState("");
  const begin = (name: "race" | "faults") => {
    setAction(name);
    setResult(null);
    setProblem("");
    const given = name === "race" ? { writers, commits } : {};
    server().request<Result>("lab", { action: name, arguments: given }, "race", setProgress, true).then(setResult, (error: unknown) => {
      if (!(error instanceof RequestError && error.kind === "cancelled")) setProblem(error instanceof Error ? error.message : String(error));
    }).finally(() => {
      setAction("");
      setProgress(null);
    });
  };
  useEffect(() => {
    if (action !== "race") return;
    let isHere = true;
    const look = () => server().request<Result>("lab", { action: "laps", arguments: {} }).then(
      (told) => isHere && told.picture && setResult((now) => (now && !now.words ? now : told)), () => {});
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => {
      isHere = false;
      clearInterval(timer);
    };
  }, [action]);
  useEffect(() => () => server().cancelChannel("race"), []);
  const rows = result?.rows ?? [], head = Object.keys(rows[0] ?? {});
  return (
    <div class="lab-view lab-scroll">
      <p class="muted">Half of the writers are Java, half pyiceberg. Each is a process of its own, on one table in a temporary catalog.</p>
      <div class="fields">
        <NumberField label="Writer processes" value={writers} most={16} set={setWriters} />
        <NumberField label="Commits of each" value={commits} most={200} set={setCommits} />
        <button type="button" class="primary" disabled={action !== ""} onClick={() => begin("race")}>Race</button>
        <button type="button" disabled={action !== ""} title="Writers are killed, cut off, or find the disk full in the middle of a commit"
          onClick={() => begin("faults")}>Run the faults</button>
      </div>
      {action && <Working text={`${action === "race" ? "Racing" : "Writers meet faults"}… ${progress?.text ?? ""}`} done={progress?.done ?? 0}
        total={progress?.total ?? 0} cancel={() => server().endChannel("race")} />}
      {problem && <Message level="error">{problem}</Message>}
      {result?.words && <Message level="ok">{result.words}</Message>}
      {result?.picture && <Picture svg={result.picture} />}
      {rows.length > 0 && <SmallTable label="Faults" head={head} rows={rows.map((row) => head.map((name) => row[name] ?? ""))} />}
    </div>
  );
}

function NumberField({ label, value, most, set }: { label: string; value: number; most: number; set: (value: number) => void }) {
  return (
    <label class="field"><span>{label}</span>
      <input type="number" min={1} max={most} value={value} onChange={(event) => set(Math.max(1, Math.min(most, event.currentTarget.valueAsNumber || 1)))} />
    </label>
  );
}
