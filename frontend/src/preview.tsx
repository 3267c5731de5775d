// A small card with what is told first of the snapshot, manifest or file that a link names: when the pointer rests on
// the link, or by Space.

import { useEffect, useState } from "preact/hooks";
import type { Preview } from "./protocol";
import { header, place, server } from "./store";

const REST_MS = 350, WIDTH = 380, NEAR = 8;

// The attributes of a link of which there is a preview.
export function previewed(kind: string, key: string): Record<string, string> {
  return kind === "question" ? {} : { "data-link-kind": kind, "data-link-key": key };
}

// Where a card is: below a box, or above it where there is no room; within the window.
export function placeBeside(box: { left: number; top: number; bottom: number }, room: { width: number; height: number }): { left: number; top?: number; bottom?: number } {
  const left = Math.max(NEAR, Math.min(box.left, room.width - WIDTH - NEAR));
  return box.bottom > room.height * 0.65 ? { left, bottom: room.height - box.top + NEAR / 2 } : { left, top: box.bottom + NEAR / 2 };
}

interface Shown {
  at: ReturnType<typeof placeBeside>;
  preview: Preview | null;
}

const known = new Map<string, Preview | null>();

export function Previews() {
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined, current: Element | null = null;
    const hide = (): void => {
      clearTimeout(timer);
      current = null;
      setShown(null);
    };
    const ask = async (link: Element): Promise<void> => {
      const kind = link.getAttribute("data-link-kind") ?? "", key = link.getAttribute("data-link-key") ?? "";
      const { table, snapshot } = place.value, name = JSON.stringify([table, snapshot || header.value?.current, kind, key]);
      if (!table || !key) return;
      if (!known.has(name)) {
        const told = await server().request<{ preview: Preview | null }>("preview", { table, kind, key, snapshot }, "preview").catch(() => null);
        if (!told) return;
        known.set(name, told.preview);
      }
      if (current !== link) return;
      setShown({ at: placeBeside(link.getBoundingClientRect(), { width: innerWidth, height: innerHeight }), preview: known.get(name) ?? null });
    };
    const linkOf = (event: Event): Element | null => (event.target instanceof Element ? event.target.closest("[data-link-kind]") : null);
    const rest = (event: Event): void => {
      const link = linkOf(event);
      if (link === current) return;
      hide();
      if (!link) return;
      current = link;
      timer = setTimeout(() => void ask(link), REST_MS);
    };
    const now = (event: Event): void => {
      const link = linkOf(event);
      if (!link) return;
      hide();
      current = link;
      void ask(link);
    };
    const press = (event: KeyboardEvent): void => {
      if (event.key === " " && linkOf(event)) {
        event.preventDefault();
        now(event);
      } else if (event.key !== "Shift") hide();
    };
    const listeners: [string, (event: never) => void][] = [["pointerover", rest], ["pointerdown", hide], ["keydown", press], ["preview", now], ["wheel", hide], ["focusout", hide]];
    for (const [type, act] of listeners) document.addEventListener(type, act as EventListener, { passive: type === "wheel", capture: type === "wheel" });
    return () => {
      clearTimeout(timer);
      for (const [type, act] of listeners) document.removeEventListener(type, act as EventListener, { capture: type === "wheel" });
    };
  }, []);
  if (!shown) return null;
  const { at, preview } = shown, style = Object.fromEntries(Object.entries(at).map(([name, value]) => [name, `${value}px`]));
  return (
    <div class="preview" role="status" style={style}>
      {preview ? <Card preview={preview} /> : <p class="muted">It is not in this snapshot: open it to see more.</p>}
    </div>
  );
}

function Card({ preview: { title, kind, problems, summary } }: { preview: Preview }) {
  return (
    <>
      <h3>{title}</h3>
      <span class="muted">{kind}</span>
      {problems.map((one) => <p key={one} class="message message-error">{one}</p>)}
      <dl>{summary.map(([name, value]) => <div key={name} style={{ display: "contents" }}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
    </>
  );
}
