// The Iceberg explorer in JupyterLab and Notebook 7: its commands, and where they are found.

import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette, MainAreaWidget, showErrorMessage, ToolbarButton, WidgetTracker } from "@jupyterlab/apputils";
import { IFileBrowserFactory, type FileBrowser } from "@jupyterlab/filebrowser";
import { ILauncher } from "@jupyterlab/launcher";
import { INotebookTracker } from "@jupyterlab/notebook";
import { NOWHERE, placeOf, queryOf, type Place } from "../../src/place";
import { insertCell } from "./cells";
import { ExplorerTab } from "./explorer-tab";
import { isOpened, placeOfFile, type Folder } from "./files";
import { icon } from "./icon";
import { addressOf, answerOf } from "./server";
import { TablesPanel } from "./tables";

const CATEGORY = "Iceberg", PAUSE_MS = 300;
const OPEN = "icedive:open", OPEN_PATH = "icedive:open-path", INSERT = "icedive:insert-code", TABLES = "icedive:show-tables";

const plugin: JupyterFrontEndPlugin<void> = {
  id: "icedive:plugin",
  description: "Tables of Apache Iceberg: a tab with catalogs, and the explorer of their metadata.",
  autoStart: true,
  optional: [ILabShell, ICommandPalette, ILauncher, IFileBrowserFactory, INotebookTracker, ILayoutRestorer],
  activate,
};

function activate(
  app: JupyterFrontEnd, lab: ILabShell | null, palette: ICommandPalette | null, launcher: ILauncher | null,
  browsers: IFileBrowserFactory | null, notebooks: INotebookTracker | null, restorer: ILayoutRestorer | null,
): void {
  const { commands, shell } = app, tabs = new WidgetTracker<MainAreaWidget<ExplorerTab>>({ namespace: "icedive" });
  // Where tabs are, as the query of a link: what JupyterLab keeps of them in its workspace.
  const kept = new WeakMap<MainAreaWidget, string>();

  // Notebook 7 has one place for each tab of the browser: there the page is a tab of its own, in the theme of this one.
  // A tab that is opened again has the id by which JupyterLab knows where it stood.
  const open = (given: Partial<Place>, id = ""): MainAreaWidget<ExplorerTab> | void => {
    const place = { ...NOWHERE, ...given };
    if (!lab) {
      localStorage.setItem("icedive-theme", document.body.dataset["jpThemeLight"] === "false" ? "dark" : "light");
      window.open(`${addressOf("/")}${queryOf(place)}`, "_blank", "noopener");
      return;
    }
    const tab: MainAreaWidget<ExplorerTab> = new MainAreaWidget({ content: new ExplorerTab(place, (to) => {
      name(to.table);
      keep(to);
    }) });
    const name = (table: string): void => {
      tab.title.label = table.split("/").at(-1) || "Iceberg Explorer";
      tab.title.caption = table || "Iceberg Explorer";
    };
    // A person's steps come fast: the server is asked for the last one.
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keep = (to: Place): void => {
      clearTimeout(timer);
      timer = setTimeout(() => void harmlessPlace(to).then((harmless) => {
        kept.set(tab, queryOf(harmless));
        return tabs.save(tab);
      }, () => {}), PAUSE_MS);
    };
    tab.id = id || `icedive-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    name(place.table);
    tab.title.icon = icon;
    tab.title.closable = true;
    if (notebooks) tab.toolbar.addItem("insert", new ToolbarButton({
      label: "Insert code", tooltip: "Put a cell into the notebook that asks what is on screen", onClick: () => void insert(tab.content),
    }));
    if (id) kept.set(tab, queryOf(place));
    else keep(place);
    void tabs.add(tab);
    shell.add(tab, "main");
    return tab;
  };

  const insert = async (tab: ExplorerTab | undefined): Promise<void> => {
    const asked = tab?.asked();
    if (!asked || !notebooks) return;
    const query = { question: asked.question, table: asked.table ?? "", arguments: JSON.stringify(asked.arguments ?? {}) };
    await tell(async () => insertCell(app, notebooks, (await answerOf<{ code: string }>("code", query)).code));
  };

  commands.addCommand(OPEN, {
    label: ({ isPalette }) => (isPalette ? "Open the Iceberg Explorer" : "Iceberg Explorer"),
    caption: "See, step through and debug the metadata of Iceberg tables",
    icon: ({ isPalette }) => (isPalette ? undefined : icon),
    execute: ({ table, query, id }) => {
      const place = typeof query === "string" ? placeOf(query) : typeof table === "string" ? { table } : {};
      return open(place, typeof id === "string" ? id : "");
    },
  });
  if (lab && restorer) {
    void restorer.restore(tabs, { command: OPEN, name: ({ id }) => id, args: (tab) => ({ query: kept.get(tab) ?? "", id: tab.id }) });
  }
  commands.addCommand(INSERT, {
    label: "Insert Code for What the Iceberg Explorer Shows",
    isEnabled: () => Boolean(notebooks && tabs.currentWidget),
    execute: () => insert(tabs.currentWidget?.content),
  });
  launcher?.add({ command: OPEN, category: "Other", rank: 50 });
  for (const command of lab ? [OPEN, INSERT, TABLES] : [OPEN]) palette?.addItem({ command, category: CATEGORY, args: { isPalette: true } });
  if (browsers) addToFiles(app, browsers, open);
  if (lab || "expandLeft" in shell) { // a JupyterLab, or a Notebook 7, whose menu and palette list its sidebars themselves
    const panel = new TablesPanel({
      open: (table) => open({ table }),
      insert: (code) => notebooks && void tell(() => insertCell(app, notebooks, code)),
    }, notebooks);
    panel.id = "icedive-tables";
    panel.title.icon = icon;
    panel.title.caption = "Iceberg tables";
    shell.add(panel, "left", { rank: 900 });
    restorer?.add(panel, panel.id);
    commands.addCommand(TABLES, { label: "Show Iceberg Tables", execute: () => shell.activateById(panel.id) });
  }
}

// Open tables from the file browser. Which folders are tables is asked when other folders are shown.
function addToFiles(app: JupyterFrontEnd, browsers: IFileBrowserFactory, open: (place: Partial<Place>) => unknown): void {
  const folders = new WeakMap<FileBrowser, Folder & { path: string }>(), shown = new WeakMap<FileBrowser, string>();
  const look = async (browser: FileBrowser): Promise<void> => {
    const { path } = browser.model, inside = [...browser.model.items()].filter(({ type }) => type === "directory");
    const seen = JSON.stringify([path, ...inside.map(({ name, last_modified }) => [name, last_modified])]);
    if (shown.get(browser) === seen) return;
    shown.set(browser, seen);
    const local = app.serviceManager.contents.localPath(path);
    const known = await answerOf<Folder>("folder", { path: local }).catch(() => ({ folder: "", tables: [] }));
    if (browser.model.path === path) folders.set(browser, { ...known, path });
  };
  const watch = (browser: FileBrowser): void => {
    browser.model.refreshed.connect(() => void look(browser));
    void look(browser);
  };
  browsers.tracker.forEach(watch);
  browsers.tracker.widgetAdded.connect((_, browser) => watch(browser));

  const chosen = (): [name: string, isFolder: boolean, folder: Folder, others: string[]] | null => {
    const browser = browsers.tracker.currentWidget, folder = browser && folders.get(browser);
    if (!browser || !folder?.folder || folder.path !== browser.model.path) return null;
    const [item, ...more] = browser.selectedItems();
    if (!item || more.length) return null;
    return [item.name, item.type === "directory", folder, [...browser.model.items()].map(({ name }) => name)];
  };
  app.commands.addCommand(OPEN_PATH, {
    label: "Open with Iceberg explorer",
    icon,
    isVisible: () => {
      const item = chosen();
      return item !== null && isOpened(item[0], item[1], item[2].tables);
    },
    execute: () => {
      const item = chosen();
      return item ? open(placeOfFile(...item)) : undefined;
    },
  });
}

// A place without texts that have a credential, as the server says: JupyterLab writes what it keeps of tabs to a file.
async function harmlessPlace(place: Place): Promise<Place> {
  const given = Object.fromEntries(Object.entries(place).filter(([, text]) => text));
  const { place: harmless } = await answerOf<{ place: Partial<Place> }>("place", given);
  return { ...NOWHERE, ...harmless };
}

// Do something; what is wrong is shown as a text.
async function tell(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    await showErrorMessage("Iceberg explorer", error instanceof Error ? error.message : String(error));
  }
}

export default plugin;
