// The app in a tab of JupyterLab. Each tab has an app with a state of its own, so its module is loaded anew.

import { Widget } from "@lumino/widgets";
import type { Message } from "@lumino/messaging";
import { NOWHERE, type Place } from "../../src/place";
import type { Connect, Question, Told } from "../../src/protocol";
import { addressOf, fileOf, Line } from "./server";

// The bundle of the page for pages of somebody else (frontend/src/notebook.tsx).
interface App {
  asked(): Question;
  render(element: HTMLElement, told: Told, connect: Connect): () => void;
}

export class ExplorerTab extends Widget {
  private readonly line = new Line();
  private app: App | undefined;
  private end: (() => void) | undefined;

  constructor(private readonly place: Partial<Place>) {
    super();
    this.addClass("icedive-tab");
  }

  // The question on screen; null until the app is here.
  asked(): Question | null {
    return this.app?.asked() ?? null;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (!this.app) void this.start();
  }

  private async start(): Promise<void> {
    try {
      const [script, style] = await Promise.all([fileOf("notebook.js"), fileOf("app.css")]);
      const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      const loaded = (await import(/* webpackIgnore: true */ url)) as { default: App };
      URL.revokeObjectURL(url);
      if (this.isDisposed) return;
      this.app = loaded.default;
      const place: Record<string, string> = { ...NOWHERE, ...this.place };
      const told: Told = {
        script, style, shows: "app", place, height: "100%", label: "Iceberg metadata explorer", downloads: addressOf("download"),
      };
      this.end = this.app.render(this.node, told, this.line.connect);
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
