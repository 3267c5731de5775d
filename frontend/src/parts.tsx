// Small parts that every view uses.

import type { ComponentChildren, TargetedEvent, TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icons";

// A button with an icon; its name is read aloud and shown as a tooltip.
export function IconButton({ icon, name, press, pressed, disabled }: {
  icon: IconName; name: string; press: () => void; pressed?: boolean; disabled?: boolean;
}) {
  return (
    <button type="button" class="icon-button" aria-label={name} title={name} aria-pressed={pressed} disabled={disabled} onClick={press}>
      <Icon name={icon} />
    </button>
  );
}

// A line that says what happened: `ok`, `warning`, `error`.
export function Message({ level, children }: { level: string; children: ComponentChildren }) {
  const words = { warning: "Warning: ", error: "Error: ", incomplete: "Incomplete: " }[level] ?? "";
  return (
    <p class={`message message-${level}`} role={level === "error" ? "alert" : "status"}>
      {words && <b>{words}</b>}
      {children}
    </p>
  );
}

// How far something is, after a moment, with a button that gives it up.
export function Working({ text, done, total, cancel }: { text: string; done?: number; total?: number; cancel?: () => void }) {
  return (
    <div class="working" role="status">
      {total ? <progress max={total} value={done ?? 0} aria-label={text} /> : <progress aria-label={text} />}
      <span>{text}</span>
      {cancel && <button type="button" onClick={cancel}>Cancel</button>}
    </div>
  );
}

// A text field with suggestions. `enter` is called with what was entered.
export function Field({ label, value, enter, options = [], hint = "", width, type = "text", required }: {
  label: string; value: string; enter: (value: string) => void; options?: readonly string[]; hint?: string; width?: string;
  type?: "text" | "search"; required?: boolean;
}) {
  const list = useId(), input = useRef<HTMLInputElement>(null);
  // While it is drawn: later would take away what was typed meanwhile.
  useLayoutEffect(() => {
    const root = input.current?.getRootNode() as Document | ShadowRoot | undefined;
    if (input.current && root?.activeElement !== input.current) input.current.value = value;
  }, [value]);
  return (
    <label class="field" style={width ? { width } : undefined}>
      <span>{label}</span>
      <input
        ref={input} type={type} defaultValue={value} placeholder={hint} list={options.length ? list : undefined} required={required}
        spellcheck={false} autocomplete="off"
        onChange={(event: TargetedEvent<HTMLInputElement>) => enter(event.currentTarget.value.trim())}
      />
      {options.length > 0 && <datalist id={list}>{options.map((one) => <option key={one} value={one} />)}</datalist>}
    </label>
  );
}

// Tabs, with arrow keys, as the ARIA pattern has them. What they show is below, elsewhere.
export function Tabs({ label, names, active, choose, controls }: {
  label: string; names: readonly { id: string; title: string; hint?: string }[]; active: string; choose: (id: string) => void; controls?: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const move = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = names.findIndex(({ id }) => id === active), to = names[(at + step + names.length) % names.length];
    if (!to) return;
    choose(to.id);
    box.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(to.id)}"]`)?.focus();
    event.preventDefault();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={box} onKeyDown={move}>
      {names.map(({ id, title, hint }, at) => (
        <button
          key={id} type="button" role="tab" data-id={id} title={hint} aria-selected={id === active} aria-controls={controls}
          tabIndex={id === active || (at === 0 && !names.some((one) => one.id === active)) ? 0 : -1} onClick={() => choose(id)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

// A button that opens a small panel below it; Escape or a click elsewhere closes it.
export function Menu({ name, hint, children }: { name: string; hint?: string; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false), box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const away = (event: Event): void => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [isOpen]);
  return (
    <div class="menu" ref={box} onKeyDown={(event) => {
      if (event.key !== "Escape" || !isOpen) return;
      setOpen(false);
      box.current?.querySelector("button")?.focus();
      event.stopPropagation();
    }}>
      <button type="button" aria-expanded={isOpen} title={hint} onClick={() => setOpen(!isOpen)}>{name} <span aria-hidden="true">▾</span></button>
      {isOpen && <div class="menu-box">{children}</div>}
    </div>
  );
}

// A panel over the page that Escape closes; the focus stays in it and goes back afterwards.
export function Dialog({ title, close, children, wide }: { title: string; close: () => void; children: ComponentChildren; wide?: boolean }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = box.current, before = (dialog?.getRootNode() as Document | ShadowRoot | undefined)?.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={box} class={wide ? "dialog wide" : "dialog"} aria-label={title} onCancel={close}
      onClick={(event) => event.target === box.current && close()}>
      {children}
    </dialog>
  );
}
