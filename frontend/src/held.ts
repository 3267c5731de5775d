// The graphs that an exported file holds (explorer/app/standalone.py), and what is asked of them, without a server.

import { itemsOf } from "./graph/geometry";
import { parentsOf, unfolded } from "./graph/tree";
import type { Details, EdgeKinds, Picture, PictureNode, Section, TimelineData, Vocabulary } from "./graph/types";
import { matches, own } from "./graph/words";
import type { Connect, GraphRequest, GraphState, Header, Hello } from "./protocol";
import { RequestError, VERSION } from "./protocol";

interface HeldPicture {
  picture: Picture;
  // The number of what is known of each node.
  details?: Record<string, number>;
  caption?: string;
  // What is told of the whole picture.
  told?: Details;
}

export interface HeldData {
  vocabulary: Vocabulary;
  header: Header | null;
  // The snapshot that is shown first.
  first: string;
  pictures: Record<string, HeldPicture>;
  // What each snapshot changed.
  changes: Record<string, HeldPicture>;
  folded: string[];
  timeline: TimelineData | Record<string, never>;
  known: (Omit<Details, "sections"> & { sections: number[] })[];
  sections: Section[];
  elsewhere: string;
  // What a teaching table teaches.
  lesson: Lesson | null;
  // The page before it, the one after it, and the index, in a folder of pages.
  pages: Partial<Record<"previous" | "next" | "index", Page>>;
}

export interface Lesson {
  teaches: string;
  source: string;
  watch: string;
  questions: { question: string; answer: string }[];
}

export interface Page {
  title: string;
  file: string;
}

export class Held {
  private readonly folded: Set<string>;
  private text = "";
  private hasFiltered = true;
  private selected: string[] = [];

  constructor(private readonly data: HeldData) {
    this.folded = new Set(data.folded);
  }

  hello(): Hello {
    const rights = { sql: false, lab: false, moves: false, catalogs: false };
    return { version: VERSION, vocabulary: this.data.vocabulary, groups: [], questions: [], rights, catalogs: [], catalog_types: [],
      catalog_settings: [], credentials: [], teaching: [], table: "" };
  }

  // Whether it is held what a snapshot changed.
  hasChange(snapshot: string): boolean {
    return own(this.data.changes, snapshot || this.data.first) !== undefined;
  }

  graph({ mode, snapshot, action = {} }: GraphRequest): GraphState {
    const { data } = this, type = action["type"], id = String(action["id"]);
    let at = snapshot || data.first;
    if (type === "snapshot") at = id;
    else if (type === "toggle") this.toggle(id);
    else if (type === "focus") {
      const title = this.shown(mode, at).picture.nodes.find((node) => node.id === id)?.title ?? ""; // a snapshot's is its id
      if (own(data.pictures, title)) at = title;
      else this.toggle(id);
    } else if (type === "search") this.text = String(action["text"]).trim().toLowerCase();
    else if (type === "filtered") this.hasFiltered = action["value"] === true;
    else if (type === "select") this.selected = action["ids"] as string[];
    const isChange = mode === "diff", shown = this.shown(mode, at), { edges } = data.vocabulary;
    const open = above(shown.picture, edges, this.text), closed = new Set([...this.folded].filter((one) => !open.has(one)));
    const isOut = (node: PictureNode) => !this.hasFiltered && node.status === "filtered";
    const picture = isChange ? shown.picture : unfolded(shown.picture, edges, closed, isOut);
    const selected = this.selected.filter((one) => picture.nodes.some((node) => node.id === one));
    return {
      picture: { ...picture, snapshot: at }, timeline: data.timeline, selected, details: this.details(shown, selected.at(-1)),
      message: this.message(shown.picture), caption: own(data.pictures, at)?.caption ?? "", snapshot: at, title: picture.title,
      offers: isChange ? ["search"] : ["search", "filtered"], asked: { search: this.text, filtered: this.hasFiltered },
    };
  }

  private shown(mode: string | undefined, at: string): HeldPicture {
    const shown = (mode === "diff" ? own(this.data.changes, at) : undefined) ?? own(this.data.pictures, at);
    if (!shown) throw new RequestError("This snapshot is not in the file.", "usage");
    return shown;
  }

  private toggle(id: string): void {
    if (!this.folded.delete(id)) this.folded.add(id);
  }

  // What the inspector shows of a node; of one that nothing more is known of, what its card says.
  private details(shown: HeldPicture, id: string | undefined): Details | null {
    const { known, sections, vocabulary } = this.data, number = id === undefined ? undefined : own(shown.details ?? {}, id);
    const told = number === undefined ? undefined : known[number];
    if (told) return { ...told, sections: told.sections.flatMap((one) => sections[one] ?? []) };
    const node = shown.picture.nodes.find((one) => one.id === id);
    if (!node) return shown.told ?? null;
    const fields = [node.title || node.label, ...node.lines].map((line): [string, string, string] => ["", line, ""]);
    return { title: node.label, kind: vocabulary.kinds[node.kind]?.title ?? "", problems: [], sections: [{ title: "in the graph", fields }] };
  }

  private message(picture: Picture): string {
    if (!this.text || found(picture, this.text).length) return "";
    const { pictures, timeline } = this.data, { ids = [], before = 0 } = timeline as Partial<TimelineData>;
    const others = ids.flatMap((id, at) => {
      const other = own(pictures, id);
      return other && found(other.picture, this.text).length ? [`snapshot-${before + at + 1}`] : [];
    });
    return `Nothing here has ${this.text}${others.length ? `; it is in ${others.slice(0, 12).join(", ")}` : ""}.`;
  }
}

function found(picture: Picture, text: string): string[] {
  return itemsOf(picture).filter((item) => matches(item, text)).map(({ id }) => id);
}

// What must be open for what is found to be seen. What has the text as its parent has it (a file's parts) stays folded.
function above(picture: Picture, edges: EdgeKinds, text: string): Set<string> {
  const parents = parentsOf(picture, edges), open = new Set<string>(), ids = new Set(found(picture, text));
  for (const one of ids) {
    if (ids.has(parents.get(one) ?? "")) continue;
    for (let id = parents.get(one); id !== undefined && !open.has(id); id = parents.get(id)) open.add(id);
  }
  return open;
}

// Answers the app's messages from what is held.
export function connectTo(held: Held, { header, elsewhere }: HeldData): Connect {
  return ({ open, message }) => {
    queueMicrotask(open);
    const answer = (type: string, request: GraphRequest): unknown => {
      if (type === "hello") return held.hello();
      if (type === "open" || type === "facts") return header;
      if (type === "graph") return held.graph(request);
      throw new RequestError(elsewhere, "error");
    };
    return {
      send(text) {
        const { type, id, ...request } = JSON.parse(text) as GraphRequest & { type: string; id: number };
        queueMicrotask(() => {
          try {
            message(JSON.stringify({ type: "answer", id, data: answer(type, request) }));
          } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            message(JSON.stringify({ type: "error", id, text: error.message, kind: error.kind }));
          }
        });
      },
      close: () => {},
    };
  };
}
