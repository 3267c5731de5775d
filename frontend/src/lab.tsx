// The lab: commits that meet, one statement, a conflict explained, and races.

import "./style/lab.css";
import { useEffect } from "preact/hooks";
import { ConflictView } from "./conflict";
import { learnChoices } from "./lab-state";
import { Message, Tabs } from "./parts";
import { RaceView } from "./race";
import { StatementView } from "./statement";
import { fail, go, hello, place } from "./store";
import { WritersView } from "./writers";

const TABS = [
  { id: "", title: "Writers, step by step", writes: true, view: WritersView },
  { id: "statement", title: "One statement", writes: true, view: StatementView },
  { id: "conflict", title: "Explain a conflict", writes: false, view: ConflictView },
  { id: "race", title: "Race and faults", writes: true, view: RaceView },
];

export function LabView() {
  const allowed = TABS.filter(({ writes }) => !writes || hello.value?.rights.lab);
  const tab = allowed.find(({ id }) => id === place.value.tab) ?? allowed[0];
  useEffect(() => void learnChoices().catch(fail), []);
  useEffect(() => {
    if (tab && tab.id !== place.value.tab) go({ tab: tab.id });
  }, [tab]);
  if (!tab) return null;
  return (
    <div class="lab">
      <Tabs label="Lab" names={allowed} active={tab.id} choose={(id) => go({ tab: id, arguments: "" })} />
      {allowed.length < TABS.length && <Message level="ok">This server does not write, so only conflicts are explained here (serve with --allow-lab).</Message>}
      <tab.view />
    </div>
  );
}
