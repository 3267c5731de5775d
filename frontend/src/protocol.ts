// The app's messages, version 1 (docs/protocol.md), and the connection that carries them.

export const VERSION = 1;

export interface Form {
  name: string;
  group: string;
  subject: "" | "table" | "place" | "catalog";
  summary: string;
  description: string;
  writes: boolean;
  parameters: Parameter[];
}

export interface Parameter {
  name: string;
  label: string;
  help: string;
  form: "text" | "number" | "count" | "decimal" | "flag" | "choice" | "pairs" | "numbers";
  choices: string[];
  several: boolean;
  offer: string;
  required: boolean;
  default: unknown;
  least: number | null;
  is_filter: boolean;
  is_sql: boolean;
}

export interface Column {
  name: string;
  kind: "text" | "number" | "bytes" | "time";
  link: string;
  first: boolean;
}

export interface RowPage extends MayLack {
  rows: (string | null)[][];
  // Sizes and times as numbers, by the column's place.
  exact: Record<string, (string | null)[]>;
  total: number | null;
  more: boolean;
}

// What can be opened: a node of the graph (snapshot, manifest, file), or a question with its arguments.
export interface LinkTo {
  label: string;
  kind: string;
  key: string;
  arguments: Record<string, unknown>;
}

export interface Fact {
  name: string;
  value: string;
  limit: string;
  level: string;
}

export interface Finding {
  level: string;
  title: string;
  name: string;
  lines: string[];
  remedy: string;
  links: LinkTo[];
}

export type Block =
  | { kind: "text"; lines: string[]; left_out: number; folded: boolean }
  | { kind: "picture"; svg: string; is_graph: boolean }
  | { kind: "message"; text: string; level: string }
  | { kind: "statement"; sql: string }
  | { kind: "facts"; facts: Fact[] }
  | { kind: "findings"; findings: Finding[] }
  | { kind: "links"; links: LinkTo[] }
  | { kind: "json"; title: string; value: Json; older: Json | null; older_title: string }
  | { kind: "group"; title: string; note: string; is_open: boolean; blocks: Block[] }
  | ({ kind: "rows"; block: number; title: string; what: string; columns: Column[] } & RowPage);

// JSON whose values are JSON texts themselves.
export type Json = string | Json[] | { [name: string]: Json };

// What an answer about a table may lack, since files could not be read: a sentence, or nothing.
export interface MayLack {
  lacks?: string;
}

export interface Answer extends MayLack {
  blocks: Block[];
  level: string;
  notes: string[];
}

export interface Teaching {
  table: string;
  name: string;
  teaches: string;
  source: string;
}

export interface Hello {
  version: number;
  vocabulary: import("./graph/types").Vocabulary;
  groups: { name: string; title: string }[];
  questions: Form[];
  rights: { sql: boolean; lab: boolean; moves: boolean; catalogs: boolean };
  catalogs: string[];
  // What a form for a catalog offers: types of catalogs, other properties, and the names of credentials.
  catalog_types: string[];
  catalog_settings: string[];
  credentials: string[];
  teaching: Teaching[];
  table: string;
}

export interface Header {
  name: string;
  title: string;
  format_version: number;
  tiles: [string, string, string][];
  facts: [string, string][];
  current: string;
  refs: { name: string; type: string; snapshot: string }[];
  snapshots: { id: string; name: string }[];
  columns: string[];
  // The type of each column.
  types: string[];
  why: string;
  problems: string[];
  teaches: string;
  // Whether this browser may change the table (here), or a copy of it; empty where neither.
  writing: "" | "copy" | "here";
}

export interface GraphState extends MayLack {
  same?: boolean;
  picture: import("./graph/types").Picture;
  timeline: import("./graph/types").TimelineData | Record<string, never>;
  selected: string[];
  details: import("./graph/types").Details | null;
  message: string;
  caption: string;
  snapshot: string;
  title: string;
  offers: string[];
  asked: { search?: string; filtered?: boolean; levels?: boolean; folded?: number };
}

// What is told first of what a link leads to.
export interface Preview {
  title: string;
  kind: string;
  problems: string[];
  summary: [string, string | null, string][];
}

export interface GraphRequest {
  table: string;
  mode?: string;
  snapshot?: string;
  filter?: string;
  before?: string;
  levels?: boolean;
  action?: Record<string, unknown>;
  arguments?: Record<string, unknown>;
}

export interface Question {
  question: string;
  table?: string;
  catalog?: string;
  arguments?: Record<string, unknown>;
}

export interface Progress {
  text: string;
  done: number;
  total: number;
}

// Why a request has no answer. `kind` is error, usage or cancelled; `position` is the place in its filter, if it is known.
export class RequestError extends Error {
  constructor(message: string, readonly kind: string, readonly position?: number) {
    super(message);
  }
}

interface Waiting {
  message: string;
  once: boolean;
  resolve(data: unknown): void;
  reject(error: RequestError): void;
  progress?: ((progress: Progress) => void) | undefined;
}

export type Link = "connecting" | "open" | "lost";

// What carries messages: a WebSocket, or a notebook's model.
export interface Wire {
  send(text: string): void;
  close(): void;
}
export type Connect = (handlers: { open(): void; message(text: string): void; lost(): void }) => Wire;

// What a host within a page of somebody else tells of the app: its script and style, what of it is shown, and where.
export interface Told {
  script: string;
  style: string;
  shows: "app" | "question" | "graph";
  place: Record<string, string>;
  height: string;
  label: string;
  // Where it fills a tab of its own: then answers are saved as files from there, and the wheel is always for the graph.
  downloads?: string;
}

const FIRST_PAUSE_MS = 400, LONGEST_PAUSE_MS = 5_000;

// Sends requests, and sends those without an answer again when a connection was lost and is back.
export class Connection {
  private wire: Wire | null = null;
  private isOpen = false;
  private count = 0;
  private pause = FIRST_PAUSE_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private readonly newest = new Map<string, number>();

  constructor(private readonly connect: Connect, private readonly changed: (link: Link) => void) {
    this.open();
  }

  private open(): void {
    this.changed("connecting");
    this.wire = this.connect({
      open: () => {
        this.isOpen = true;
        this.pause = FIRST_PAUSE_MS;
        const unanswered = [...this.waiting]; // before more is asked because the connection is back
        this.changed("open");
        for (const [id, { message, once, reject }] of unanswered) {
          if (!once) this.wire?.send(message);
          else {
            this.waiting.delete(id);
            reject(new RequestError("The connection was lost. Look whether this was carried out.", "error"));
          }
        }
      },
      message: (text) => this.take(text),
      lost: () => {
        this.isOpen = false;
        this.changed("lost");
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.open(), this.pause);
        this.pause = Math.min(LONGEST_PAUSE_MS, this.pause * 1.7);
      },
    });
  }

  // Ask for something. On a `channel` only the newest request is answered: an older one is cancelled. What is carried
  // out `once` is not asked again when the connection is back.
  request<T>(
    type: string, fields: object = {}, channel = "", progress?: (progress: Progress) => void, once = false,
  ): Promise<T> {
    const id = (this.count += 1), message = JSON.stringify({ type, id, ...fields });
    if (channel) {
      const older = this.newest.get(channel);
      if (older !== undefined) this.cancel(older);
      this.newest.set(channel, id);
    }
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { message, once, resolve: resolve as (data: unknown) => void, reject, progress });
      if (this.isOpen) this.wire?.send(message);
    });
  }

  // Give up the newest request of a channel.
  cancelChannel(channel: string): void {
    const id = this.newest.get(channel);
    if (id !== undefined) this.cancel(id);
  }

  // Have the newest request of a channel end soon; what it has come to by then is its answer.
  endChannel(channel: string): void {
    const id = this.newest.get(channel);
    if (id !== undefined && this.waiting.has(id) && this.isOpen) this.sendCancel(id);
  }

  private sendCancel(id: number): void {
    this.wire?.send(JSON.stringify({ type: "cancel", id: (this.count += 1), request: id }));
  }

  private cancel(id: number): void {
    const one = this.waiting.get(id);
    if (!one) return;
    this.waiting.delete(id);
    one.reject(new RequestError("Cancelled.", "cancelled"));
    if (this.isOpen) this.sendCancel(id);
  }

  private take(text: string): void {
    const message = JSON.parse(text) as Record<string, unknown> & { id: number; type: string };
    const one = this.waiting.get(message.id);
    if (!one) return;
    if (message.type === "progress") {
      one.progress?.(message as unknown as Progress);
      return;
    }
    this.waiting.delete(message.id);
    if (message.type === "answer") one.resolve(message["data"]);
    else one.reject(new RequestError(String(message["text"]), String(message["kind"]), message["position"] as number | undefined));
  }
}

// A WebSocket beside the page.
export function socketTo(url: URL): Connect {
  return ({ open, message, lost }) => {
    const socket = new WebSocket(url);
    socket.addEventListener("open", open);
    socket.addEventListener("message", (event: MessageEvent<string>) => message(event.data));
    socket.addEventListener("close", lost);
    return { send: (text) => socket.send(text), close: () => socket.close() };
  };
}
