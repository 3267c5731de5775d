// Cells that are put into notebooks. They are not run.

import type { JupyterFrontEnd } from "@jupyterlab/application";
import { NotebookActions, type INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";

// Put a cell below the active one of the notebook that was used last, or into a new notebook. An empty cell is filled.
export async function insertCell(app: JupyterFrontEnd, notebooks: INotebookTracker, code: string): Promise<void> {
  const kernelName = app.serviceManager.kernelspecs.specs?.default ?? "";
  const panel = notebooks.currentWidget ?? ((await app.commands.execute("notebook:create-new", { kernelName })) as NotebookPanel);
  await panel.context.ready;
  const notebook = panel.content, active = notebook.activeCell;
  if (active?.model.type !== "code" || active.model.sharedModel.getSource() !== "") NotebookActions.insertBelow(notebook);
  notebook.activeCell?.model.sharedModel.setSource(code.trimEnd());
  app.shell.activateById(panel.id);
}
