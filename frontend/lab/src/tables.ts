// The left tab: tables of the server's catalogs, teaching tables, and those of the Spark sessions of the notebook in use.

import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel } from "@jupyterlab/services";
import { Widget } from "@lumino/widgets";
import type { Message } from "@lumino/messaging";
import type { Connection, Hello } from "../../src/protocol";
import { cellText, sparkNamespaces, sparkSessions, sparkTables } from "./kernel";
import { connection, Line } from "./server";
import { fill, type Branch, type Leaf } from "./tree";

export interface Acts {
  // Open a table, by its name on the server.
  open(table: string): void;
  // Put a cell into the notebook in use.
  insert(code: string): void;
}

export class TablesPanel extends Widget {
  private readonly line = new Line();
  private server: Connection | undefined;
  private readonly onServer = section("On this server");
  private readonly teaching = section("Teaching tables");
  private readonly inKernel = section("In the notebook's Spark");
  // What is shown of a kernel.
  private shownOfKernel = "";

  constructor(private readonly acts: Acts, private readonly notebooks: INotebookTracker | null) {
    super();
    this.addClass("icedive-tables");
    this.node.setAttribute("role", "region");
    this.node.setAttribute("aria-label", "Iceberg tables");
    this.node.append(this.head());
    for (const { box } of [this.inKernel, this.onServer, this.teaching]) this.node.append(box);
    notebooks?.currentChanged.connect(() => this.isVisible && void this.askKernel());
  }

  // Ask for everything anew.
  async refresh(): Promise<void> {
    this.server ??= connection(this.line);
    const server = this.server, hello = server.request<Hello>("hello");
    const catalogs = hello.then((told) => told.catalogs.map((name) => catalogOf(server, name, this.acts)));
    const teaching = hello.then((told) => told.teaching.map(({ table, name, teaches }): Leaf =>
      ({ name, title: teaches, press: () => this.acts.open(table) })));
    this.shownOfKernel = "";
    const all = [fill(this.onServer.list, catalogs, 1), fill(this.teaching.list, teaching, 1), this.askKernel()];
    await Promise.allSettled(all);
  }

  // Ask the kernel of the notebook in use which tables its Spark has. A kernel at work is asked when it has time. What is
  // unfolded stays so where the kernel has the same.
  async askKernel(): Promise<void> {
    const panel = this.notebooks?.currentWidget ?? null, kernel = await pythonKernel(panel);
    this.inKernel.box.hidden = !kernel;
    if (!kernel) return;
    const asked = sparkSessions(kernel);
    if (this.shownOfKernel) {
      const told = await asked.then((known) => JSON.stringify([kernel.id, known]), () => "");
      if (told === this.shownOfKernel) return;
    }
    const sessions = asked.then((told) => {
      this.shownOfKernel = JSON.stringify([kernel.id, told]);
      return told.flatMap(({ variable, catalogs }) => catalogs.map((catalog) => sparkCatalog(kernel, variable, catalog, this.acts)));
    });
    await fill(this.inKernel.list, sessions, 1, "No variable of the notebook is a SparkSession with catalogs.").catch(() => {});
  }

  override dispose(): void {
    this.line.close();
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    if (!this.server) void this.refresh();
    else void this.askKernel();
  }

  private head(): HTMLElement {
    const head = document.createElement("div"), label = document.createElement("label"), input = document.createElement("input");
    const again = document.createElement("button");
    head.className = "icedive-head";
    input.type = "text";
    input.className = "jp-mod-styled";
    input.placeholder = "catalog.db.table or a path";
    input.setAttribute("aria-label", "Open a table");
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && input.value.trim()) this.acts.open(input.value.trim());
    });
    label.append("Open a table", input);
    again.type = "button";
    again.textContent = "Read again";
    again.addEventListener("click", () => void this.refresh());
    head.append(label, again);
    return head;
  }
}

function section(title: string): { box: HTMLElement; list: HTMLElement } {
  const box = document.createElement("section"), heading = document.createElement("h3"), list = document.createElement("ul");
  heading.textContent = title;
  list.setAttribute("role", "tree");
  list.setAttribute("aria-label", title);
  box.append(heading, list);
  return { box, list };
}

// The kernel of a notebook, if it runs Python.
async function pythonKernel(panel: NotebookPanel | null): Promise<Kernel.IKernelConnection | null> {
  await panel?.sessionContext.ready;
  const kernel = panel?.sessionContext.session?.kernel;
  if (!kernel) return null;
  const { language_info } = await kernel.info;
  return language_info.name === "python" ? kernel : null;
}

function catalogOf(server: Connection, catalog: string, acts: Acts): Branch {
  return {
    name: catalog,
    parts: async () => (await server.request<{ namespaces: string[][] }>("catalogs", { catalog })).namespaces.map((namespace): Branch => ({
      name: namespace.join("."),
      parts: async () => (await server.request<{ tables: string[] }>("catalogs", { catalog, namespace })).tables.map((table): Leaf =>
        ({ name: table.slice(table.lastIndexOf(".") + 1), title: table, press: () => acts.open(table) })),
    })),
  };
}

// A catalog of a Spark session. Its tables are open in the kernel alone, so they are opened by a cell.
function sparkCatalog(kernel: Kernel.IKernelConnection, variable: string, catalog: string, acts: Acts): Branch {
  return {
    name: catalog,
    parts: async () => (await sparkNamespaces(kernel, variable, catalog)).map((space): Branch => ({
      name: space,
      parts: async () => (await sparkTables(kernel, variable, catalog, space)).map((table): Leaf => {
        const name = [catalog, space, table].join("."), isPlain = /^[\w.]+$/.test(name);
        const text = cellText(isPlain ? name : [catalog, space, `\`${table.replaceAll("`", "``")}\``].join("."));
        return { name: table, title: `${name}: put a cell into the notebook`,
          press: () => acts.insert(`import explorer\n\ntable = explorer.open_table(${text}, spark=${variable})\ntable\n`) };
      }),
    })),
  };
}
