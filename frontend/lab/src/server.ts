// What the extension of the server has: the page, its messages, and answers for tabs of JupyterLab.

import { URLExt } from "@jupyterlab/coreutils";
import { ServerConnection } from "@jupyterlab/services";
import { Connection, socketTo, type Connect } from "../../src/protocol";

const PATH = "icedive";
const settings = ServerConnection.makeSettings();

// The address of something that the extension of the server has.
export function addressOf(path: string): string {
  return URLExt.join(settings.baseUrl, PATH, path);
}

// Ask for JSON. Rejects with a sentence.
export async function answerOf<T>(path: string, query: Record<string, string>): Promise<T> {
  const response = await ServerConnection.makeRequest(`${addressOf(path)}?${new URLSearchParams(query)}`, {}, settings);
  const isJson = response.headers.get("Content-Type")?.includes("json");
  const told = isJson ? ((await response.json()) as T & { problem?: string }) : null;
  if (!response.ok || !told) throw new Error(told?.problem ?? `The server answered ${response.status} ${response.statusText}.`);
  return told;
}

// The text of a file of the page. It is asked for as JupyterLab asks for all else: a JupyterHub answers no other scripts.
export async function fileOf(name: string): Promise<string> {
  const response = await ServerConnection.makeRequest(addressOf(`static/${name}`), {}, settings);
  if (!response.ok) throw new Error(`The server answered ${response.status} ${response.statusText}.`);
  return response.text();
}

// A connection for the app's messages that can be ended.
export class Line {
  private isEnded = false;
  private end: (() => void) | undefined;
  private readonly socket = socketTo(new URL(URLExt.join(settings.wsUrl, PATH, "ws"), location.href));

  readonly connect: Connect = (listener) => {
    if (this.isEnded) return { send: () => {}, close: () => {} };
    const wire = this.socket(listener);
    this.end = () => wire.close();
    return wire;
  };

  close(): void {
    this.isEnded = true;
    this.end?.();
  }
}

// Requests of its own, for what is no app.
export function connection(line: Line): Connection {
  return new Connection(line.connect, () => {});
}
