// The app in a tab of JupyterLab. Each tab has an app with a state of its own, so its module is loaded anew.

import type { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import type { Place } from "../../src/place";
import type { Connect, Question, Told } from "../../src/protocol";
import { addressOf, fileOf, Line } from "./server";

// The bundle of the page for pages of somebody else (frontend/src/notebook.tsx).
interface App {
  asked(): Question;
  render(element: HTMLElement, told: Told, connect: Connect, keep: (place: Place) => void): () => void;
}

export class ExplorerTab extends Widget {
  private readonly line = new Line();
  private app: App | undefined;
  private end: (() => void) | undefined;
  private isStarted = false;

  // Args: where the app is at first, and what is called when it has gone to another place.
  constructor(private readonly place: Place, private readonly moved: (place: Place) => void) {
    super();
    this.addClass("icedive-tab");
  }

  // The question on screen; null until the app is here.
  asked(): Question | null {
    return this.app?.asked() ?? null;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) void this.start();
  }

  // A tab that is opened again behind others asks for nothing until a person looks at it.
  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.start();
  }

  private async start(): Promise<void> {
    if (this.isStarted) return;
    this.isStarted = true;
    try {
      const [script, style] = await Promise.all([fileOf("notebook.js"), fileOf("app.css")]);
      const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      const loaded = (await import(/* webpackIgnore: true */ url)) as { default: App };
      URL.revokeObjectURL(url);
      if (this.isDisposed) return;
      this.app = loaded.default;
      const place: Record<string, string> = { ...this.place };
      const told: Told = {
        script, style, shows: "app", place, height: "100%", label: "Iceberg metadata explorer", downloads: addressOf("download"),
      };
      this.end = this.app.render(this.node, told, this.line.connect, this.moved);
    } catch {
      this.node.textContent = "The Iceberg explorer could not be loaded: its extension of the Jupyter server does not answer.";
    }
  }

  override dispose(): void {
    this.end?.();
    this.line.close();
    super.dispose();
  }
}
