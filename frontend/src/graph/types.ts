// The JSON that Python sends: explorer/render/svg.py `vocabulary` and `picture`, explorer/app/graph_state.py `timeline`, and
// explorer/reports/inspector. What is a text there is a text here, and is set as text.

export type Fold = "" | "folded" | "open";

export interface Ink {
  color: string;
  night?: string;
}

export interface Kind extends Ink {
  title: string;
  glyph: string;
  look: string;
  double: "toggle" | "focus";
}

export interface Status extends Ink {
  title: string;
  sign: string;
  look: string;
  of: string;
}

export interface Mark extends Ink {
  title: string;
  look: string;
}

export interface EdgeKind extends Ink {
  dashed: boolean;
  back: boolean;
}

export type EdgeKinds = Record<string, EdgeKind>;

export interface Vocabulary {
  kinds: Record<string, Kind>;
  statuses: Record<string, Status>;
  marks: Record<string, Mark>;
  edges: EdgeKinds;
  terms: Record<string, string>;
  operations: Record<string, string>;
  operation: string;
  operation_marks: Record<string, string>;
  operation_mark: string;
}

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** What a card says beside its label: one line of measures, one sentence, partition values or ranges by field. */
export interface Card {
  measures?: string;
  note?: string;
  chips?: [name: string, value: string][];
  rows?: number;
  bytes?: number;
  operation?: string;
  dead?: boolean;
}

export interface PictureNode extends Box {
  id: string;
  kind: string;
  label: string;
  lines: string[];
  status: string;
  fold: Fold;
  current: boolean;
  bad: boolean;
  warn: boolean;
  title: string;
  problem: string;
  focus: boolean;
  mark: string;
  row?: number;
  card?: Card;
}

/** Nodes that are there but not drawn; `action` says what brings them up. */
export interface HiddenGroup extends Box {
  id: string;
  parent: string;
  label: string;
  action: string;
  before: boolean;
  row?: number;
}

export interface PictureEdge {
  s: string;
  t: string;
  kind: string;
  status: string;
  why?: string;
}

export interface Column {
  name: string;
  x: number;
}

export interface Picture {
  title: string;
  snapshot: string;
  columns: Column[];
  nodes: PictureNode[];
  edges: PictureEdge[];
  more: HiddenGroup[];
}

/** Parallel lists, oldest first; `before` are older snapshots that are not sent. */
export interface TimelineData {
  ids: string[];
  operations: string[];
  times: string[];
  refs: string[][];
  before?: number;
}

export type Value = string | number | boolean | null;
export type Field = [name: string, value: Value, hint?: string];

export interface Section {
  title: string;
  note?: string;
  open?: boolean;
  fields?: Field[];
  columns?: string[];
  rows?: Value[][];
  struck?: number[];
  raw?: string;
}

export interface Details {
  title: string;
  kind: string;
  problems: string[];
  summary?: Field[];
  sections: Section[];
  actions?: [type: string, text: string][];
}
