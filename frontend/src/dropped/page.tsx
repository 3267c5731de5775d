// A page onto which a person drops the metadata of a table: its tree, entries, lifecycle and differences, read here in the
// browser. Nothing is sent anywhere.

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton, Message, Tabs, Working } from "../parts";
import "../style/tokens.css";
import "../style/app.css";
import "../style/lab.css";
import "./dropped.css";
import { causeOf, Unreadable } from "./avro";
import { baseName, filesOfDrop, filesOfList, type DroppedFile } from "./files";
import { findTables, openTable, type Place, type Table } from "./table";
import { Choice, DifferenceView, EntriesView, LifecycleView, save, TreeView } from "./views";

const FEW = 5;
const VIEWS = [
  { id: "tree", title: "Tree", View: TreeView }, { id: "entries", title: "Entries", View: EntriesView },
  { id: "lifecycle", title: "Lifecycle", View: LifecycleView }, { id: "difference", title: "Difference", View: DifferenceView },
];

function Page() {
  const [files, setFiles] = useState<DroppedFile[]>([]), [places, setPlaces] = useState<Place[]>([]), [place, setPlace] = useState<Place | null>(null);
  const [table, setTable] = useState<Table | null>(null), [failure, setFailure] = useState(""), [isReading, setReading] = useState(false);
  const [view, setView] = useState("tree"), [, draw] = useState(0);

  // Do what takes time; what goes wrong is told.
  const work = (what: () => Promise<void>): void => {
    setReading(true);
    setFailure("");
    what().catch((error: unknown) => setFailure(causeOf(error))).finally(() => setReading(false));
  };
  const open = async (where: Place, all: DroppedFile[], found: Place[], named = ""): Promise<void> => {
    setPlace(where);
    setTable(null);
    setTable(await openTable(where, all, found, named));
  };
  const clear = (): void => {
    setPlaces([]);
    setPlace(null);
    setTable(null);
  };
  const take = (reading: Promise<DroppedFile[]>): void => work(async () => {
    clear();
    const all = await reading, found = findTables(all);
    if (!found[0]) throw new Unreadable("No *.metadata.json is among these files. Drop the table's folder, or its metadata folder.");
    setFiles(all);
    setPlaces(found);
    await open(found[0], all, found);
  });
  useEffect(() => {
    const over = (event: DragEvent): void => event.preventDefault();
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      if (event.dataTransfer) take(filesOfDrop(event.dataTransfer.items));
    };
    document.addEventListener("dragover", over);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("drop", drop);
    };
  }, []);
  const problems = table?.problems.length ?? 0, { title, View } = VIEWS.find(({ id }) => id === view) ?? (VIEWS[0] as (typeof VIEWS)[number]);

  return (
    <div class="app">
      <header class="header">
        <b class="crumb">{table?.name ?? "Read a table's metadata here"}</b>
        {table && (
          <ul class="plain tiles">
            <li>format version <b>{table.version}</b></li>
            <li><b>{table.snapshots.length.toLocaleString("en")}</b> {table.snapshots.length === 1 ? "snapshot" : "snapshots"}</li>
          </ul>
        )}
        <span class="gap" />
        {table && <button type="button" onClick={() => work(() => save(table))}>Save all as JSON</button>}
        {table && <button type="button" onClick={() => clear()}>Another table</button>}
        <IconButton icon="moon" name="Light or dark" press={() => shade(document.documentElement.dataset["theme"] === "light")} />
      </header>
      {failure && <Message level="error">{failure}</Message>}
      {isReading && <Working text="Reading…" />}
      {!table && !isReading && <Chooser take={take} />}
      {(places.length > 1 || (place && place.metadata.length > 1)) && !isReading && (
        <div class="fields dropped-choices">
          {places.length > 1 && (
            <Choice label="Table" value={String(place ? places.indexOf(place) : 0)} options={places.map(({ root }, at) => [String(at), root || "(top)"])}
              choose={(at) => work(async () => open(places[Number(at)] ?? (places[0] as Place), files, places))} />
          )}
          {place && place.metadata.length > 1 && (
            <Choice label="Metadata file" value={table?.file ?? ""} options={place.metadata.map(({ path }) => [path, baseName(path)])}
              choose={(path) => work(async () => open(place, files, places, baseName(path)))} />
          )}
        </div>
      )}
      {table && (
        <>
          <p class="muted dropped-note">{baseName(table.file)} is open: {table.reason}. Location: {table.location || "none"}</p>
          {problems > 0 && (
            <details class="message message-warning" open={problems <= FEW}>
              <summary><b>Warning:</b> {problems === 1 ? "one file" : `${problems} files`} could not be read whole. The rest is shown.</summary>
              <ul class="dropped-problems">{table.problems.map(({ file, cause }) => <li key={file + cause}><code>{file}</code>: {cause}</li>)}</ul>
            </details>
          )}
          <Tabs label="Views" names={VIEWS} active={view} choose={setView} controls="view" />
          <div class="dropped-view" id="view" role="tabpanel" aria-label={title} tabIndex={0}>
            <View key={table.root + table.file} table={table} told={() => draw((n) => n + 1)} />
          </div>
        </>
      )}
    </div>
  );
}

function Chooser({ take }: { take: (reading: Promise<DroppedFile[]>) => void }) {
  const folder = useRef<HTMLInputElement>(null);
  useEffect(() => folder.current?.setAttribute("webkitdirectory", ""), []);
  const given = (list: FileList | null): void => {
    if (list?.length) take(filesOfList(list));
  };
  return (
    <main class="dropped-chooser">
      <h1>Drop the folder of an Iceberg table here</h1>
      <p>Or its <code>metadata</code> folder, or a zip of either. The page reads <code>*.metadata.json</code>, manifest lists and manifests, and shows
        the tree, what each entry means as of a snapshot, what became of every manifest, and what two snapshots differ in.</p>
      <p class="fields">
        <label class="primary dropped-pick">Choose a folder<input ref={folder} type="file" aria-label="Choose a folder" onChange={(event) => given(event.currentTarget.files)} /></label>
        <label class="dropped-pick">Choose a zip or files<input type="file" multiple aria-label="Choose a zip or files" onChange={(event) => given(event.currentTarget.files)} /></label>
      </p>
      <h2>What stays here</h2>
      <p>Everything. The page has no server: your browser reads the files, and the page may not connect to any address.</p>
      <h2>What it cannot do</h2>
      <ul>
        <li>It opens no data files and no delete files, so it shows no rows and has no row history.</li>
        <li>It asks no catalog. It opens the metadata file that Iceberg would open in this folder, and says why; you can choose another.</li>
        <li>It checks nothing and plans no queries. Nor does it read Parquet manifests (format version 4) or encrypted files.</li>
        <li>It reads at most 500,000 entries.</li>
      </ul>
      <p>The installed product does all of that. <a href="../install.html">Install it</a>.</p>
    </main>
  );
}

function shade(isDark: boolean): void {
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

shade(matchMedia("(prefers-color-scheme: dark)").matches);
const root = document.getElementById("app");
if (root) render(<Page />, root);
