// Writers, step by step: who takes part, the run's sequence, its graph with what is not committed, and every order.

import { useEffect, useRef, useState } from "preact/hooks";
import { Picture } from "./answer";
import { GraphView, InspectorView } from "./graph-view";
import {
  act, cancel, CANCELLED_BY_A_PERSON, choices, doing, everyOrder, faultsOf, isBusy, isolation, isPlaying, laneOf, laneOptions, lanes, newRun,
  nextLane, NOBODY, notice, orders, problem, progress, replay, run, step, switched, validationsOf, version,
} from "./lab-state";
import type { Lane, LaneForm, Orders, Run, Told } from "./lab-state";
import { Message, Tabs, Working } from "./parts";
import { SmallTable } from "./small-table";
import { draw, graph, isInspectorOpen } from "./store";

const NAMES = ["A", "B", "C"], STEP_MS = 700;

export function WritersView() {
  const now = run.value;
  useEffect(() => {
    if (now || isBusy.value) return;
    void act("state", {}, "Looking for the run…"); // of this session, which another view may have begun
  }, []);
  useEffect(() => {
    if (!isPlaying.value || !now || isBusy.value) return;
    const name = nextLane(now);
    if (!name) {
      isPlaying.value = false;
      return;
    }
    const timer = setTimeout(() => void step(name), STEP_MS);
    return () => clearTimeout(timer);
  }, [now, isPlaying.value, isBusy.value]);
  const told = doing.value, cancels = CANCELLED_BY_A_PERSON.has(told);
  return (
    <div class="lab-view">
      <LaneForms />
      {now && !orders.value && <RunBar now={now} />}
      <div class="lab-said" aria-live="polite">
        {told && (progress.value || cancels)
          ? <Working text={`${told} ${progress.value?.text ?? ""}`} done={progress.value?.done ?? 0} total={progress.value?.total ?? 0}
            {...(cancels ? { cancel } : {})} />
          : now && <p>{now.said || "Three rows in two files, each of a snapshot of its own. Let a writer take a step."}</p>}
      </div>
      {notice.value && <Message level="ok">{notice.value}</Message>}
      {problem.value && <Message level="error">{problem.value}</Message>}
      {orders.value ? <OrdersView told={orders.value} /> : now ? <RunView now={now} /> : <NoRun />}
    </div>
  );
}

function NoRun() {
  return (
    <div class="empty">
      <p>Each writer is a real operation of Iceberg on a small table of its own. It takes the steps load, write, apply, metadata and
        swap only when you let it. A reader loads, plans and reads.</p>
      <p>Choose who takes part, then press <b>New run</b>. The run belongs to this page, and ends with it.</p>
    </div>
  );
}

// ---- who takes part -----------------------------------------------------------------------------------------------
function LaneForms() {
  const offered = choices.value;
  const set = (at: number, lane: LaneForm) => (lanes.value = lanes.value.map((one, i) => (i === at ? lane : one)));
  const options = laneOptions(offered?.operations ?? []);
  const readsOne = lanes.value.some(({ operation }) => offered?.operations.find(({ name }) => name === operation)?.reads);
  return (
    <>
      <div class="lab-form fields">
        {lanes.value.map((lane, at) => (
          <label key={at} class="field lab-lane">
            <span>{`Lane ${NAMES[at]}`}</span>
            <select value={lane.operation === NOBODY ? NOBODY : `${lane.operation}@${lane.engine}`}
              onChange={(event) => set(at, laneOf(event.currentTarget.value))}>
              {at === 2 && <option value={NOBODY}>nobody</option>}
              {options.map(({ value, title }) => <option key={value} value={value}>{title}</option>)}
            </select>
          </label>
        ))}
        <label class="field"><span>Isolation</span>
          <select value={isolation.value} onChange={(event) => {
            isolation.value = event.currentTarget.value;
            lanes.value = lanes.value.map((lane) => ({ ...lane, validations: null }));
          }}>{(offered?.isolation ?? ["serializable"]).map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
        <label class="field"><span>Format version</span>
          <select value={version.value} onChange={(event) => (version.value = Number(event.currentTarget.value))}>
            <option value={2}>2: delete files</option>
            <option value={3}>3: deletion vectors</option>
          </select></label>
        <button type="button" class="primary" disabled={isBusy.value || !offered} onClick={() => void newRun()}>New run</button>
        <button type="button" disabled={isBusy.value || !offered || readsOne} title="Run every order of the writers' steps" onClick={() => {
          isPlaying.value = false;
          void everyOrder();
        }}>Run every order</button>
        <ReplayButton />
      </div>
      <details class="lab-validations">
        <summary>Validations</summary>
        <div class="lab-checks">{lanes.value.map((lane, at) => lane.operation !== NOBODY && <LaneChecks key={at} lane={lane} at={at} />)}</div>
        <p class="muted">What is switched here holds for the next run.</p>
      </details>
    </>
  );
}

function LaneChecks({ lane, at }: { lane: LaneForm; at: number }) {
  const offered = choices.value;
  if (!offered) return null;
  const { all, on } = validationsOf(lane, isolation.value, offered.operations);
  return (
    <fieldset>
      <legend>{`Lane ${NAMES[at]}: ${lane.operation}`}</legend>
      {all.length === 0 && <p class="muted">No validation can be set here.</p>}
      {all.map((name) => (
        <label key={name} class="check lab-check">
          <input type="checkbox" checked={on.includes(name)}
            onChange={() => (lanes.value = switched(lanes.value, at, name, isolation.value, offered.operations))} />
          <span><b>{name}</b> {offered.protects[name]}</span>
        </label>
      ))}
    </fieldset>
  );
}

function ReplayButton() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" disabled={isBusy.value} onClick={() => input.current?.click()}>Replay a file…</button>
      <input ref={input} type="file" accept=".json,application/json" hidden aria-label="A saved run" onChange={(event) => {
        const file = event.currentTarget.files?.[0];
        event.currentTarget.value = "";
        if (file) void file.text().then((saved) => replay({ saved }));
      }} />
    </>
  );
}

function SaveButton({ saved }: { saved: string }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([saved], { type: "application/json" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [saved]);
  return <a class="save" href={url} download="run.json">Save this run</a>;
}

// ---- a run --------------------------------------------------------------------------------------------------------
function RunBar({ now }: { now: Run }) {
  const isOver = now.lanes.every(({ over }) => over), isHeld = isBusy.value || isPlaying.value;
  return (
    <div class="run-bar" role="group" aria-label="The run">
      {now.lanes.map((lane) => <LaneCard key={lane.name} lane={lane} isHeld={isHeld} />)}
      <button type="button" disabled={isOver} aria-pressed={isPlaying.value} onClick={() => (isPlaying.value = !isPlaying.value)}>
        {isPlaying.value ? "Pause" : "Play"}
      </button>
      <span class="gap" />
      <SaveButton saved={now.saved} />
    </div>
  );
}

function LaneCard({ lane, isHeld }: { lane: Lane; isHeld: boolean }) {
  return (
    <div class="lane-card">
      <span class="lane-name" title={lane.words}><b>{lane.name}</b> {lane.operation}</span>
      <span class={`lane-state lane-${lane.state}`}>{lane.over ? lane.state : `next: ${lane.state}`}</span>
      <button type="button" disabled={isHeld || lane.over} onClick={() => void step(lane.name)}>{`Step ${lane.name}`}</button>
      {faultsOf(lane).map(({ token, title, hint }) => (
        <button key={token} type="button" class="quiet" title={hint} disabled={isHeld} aria-label={`${title}: ${lane.name}`}
          onClick={() => void step(lane.name + token)}>{title}</button>
      ))}
    </div>
  );
}

const VIEWS = [
  { id: "sequence", title: "Sequence" }, { id: "graph", title: "Graph, with what is not committed" }, { id: "steps", title: "Steps and files" },
];

function RunView({ now }: { now: Run }) {
  const [view, setView] = useState("sequence");
  return (
    <>
      <Tabs label="Run" names={VIEWS} active={view} choose={setView} />
      {view === "sequence" && <SequenceView now={now} />}
      {view === "graph" && <RunGraph now={now} />}
      {view === "steps" && (
        <div class="lab-scroll">
          <SmallTable label="Steps" head={["n", "lane", "step", "outcome", "what happened", "files, in order"]}
            rows={[...now.steps].reverse().map((one) => [String(one.n), one.writer, one.step, one.outcome, one.words, one.files.join("\n")])} />
        </div>
      )}
    </>
  );
}

function SequenceView({ now }: { now: Run }) {
  return (
    <div class="sequence">
      <div class="sequence-picture"><Picture svg={now.picture} /></div>
      <div class="sequence-side">
        <Answers title={(name) => `If ${name} went on now`} told={now.predictions} />
        <Answers title={(name) => `Why ${name} was refused`} told={now.refusals} />
        <h3>Rows now</h3>
        <SmallTable label="Rows now" head={["id", "v", "p"]} rows={now.rows} mono />
        {now.loads.length > 0 && (
          <>
            <h3>What each lane has loaded</h3>
            <SmallTable label="What each lane has loaded" head={["lane", "table", "snapshot", "rows"]}
              rows={now.loads.map((one) => [one.lane, one.table, one.snapshot, one.rows])} />
          </>
        )}
        {now.left.length > 0 && (
          <>
            <h3>Files left behind</h3>
            <SmallTable label="Files left behind" head={["lane", "file"]} rows={now.left.map((one) => [one.writer, one.file])} mono />
          </>
        )}
      </div>
    </div>
  );
}

function Answers({ title, told }: { title: (name: string) => string; told: readonly Told[] }) {
  return (
    <>
      {told.map(({ writer, words, outcome }) => (
        <div key={writer}><h3>{title(writer)}</h3><Message level={outcome === "refused" ? "warning" : "ok"}>{words}</Message></div>
      ))}
    </>
  );
}

function RunGraph({ now }: { now: Run }) {
  useEffect(() => void draw(), [now.saved]);
  return (
    <div class="mode-graph">
      <GraphView mode="lab" />
      {isInspectorOpen.value && graph.value && <InspectorView />}
    </div>
  );
}

// ---- every order --------------------------------------------------------------------------------------------------
function OrdersView({ told }: { told: Orders }) {
  return (
    <div class="lab-scroll">
      <h2>{`${told.orders.length} orders`}</h2>
      <ul>{told.summary.map((one) => <li key={one}>{one}</li>)}</ul>
      {run.value && <button type="button" onClick={() => (orders.value = null)}>Back to the run</button>}
      <Picture svg={told.picture} />
      <h3>Orders: press one to replay it</h3>
      <SmallTable label="Orders" head={["order", "outcomes", "rows", "same as serial", "anomaly"]} press={(at) => void replay({ order: told.orders[at]?.order ?? "" })}
        rows={told.orders.map((one) => [one.order, one.outcomes, one.rows, one.equals, one.anomaly])} />
      <h3>Serial orders</h3>
      <SmallTable label="Serial orders" head={["order", "rows"]} rows={told.serial.map((one) => [one.order, one.rows])} />
    </div>
  );
}
