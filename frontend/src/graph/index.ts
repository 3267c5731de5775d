// The graph and what stands around it, for any shell: each class has an `element` to be put into a page.

import "./graph.css";

export { GraphCanvas } from "./canvas";
export type { GraphHandlers } from "./canvas";
export { Grip } from "./grip";
export { Inspector } from "./inspector";
export type { InspectorHandlers } from "./inspector";
export { legend } from "./legend";
export { followTheme } from "./theme";
export { Timeline } from "./timeline";
export { unfolded } from "./tree";
export type * from "./types";
export { foundWords } from "./words";
export type { Found } from "./words";
