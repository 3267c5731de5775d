// The strip of snapshots: a chip each, of which only those in sight are drawn, and what steps and plays through them.

import { button, html } from "./dom";
import type { TimelineData, Vocabulary } from "./types";
import { WIDE_CHIP, chipWidth, chipsInSight, own, snapshotWords } from "./words";

const PLAY_MS = 1400;

export class Timeline {
  readonly element = html("div", "timeline");
  private readonly chips = html("div", "timeline-chips");
  private readonly line = html("div", "timeline-line");
  private readonly playButton: HTMLButtonElement;
  private readonly size: ResizeObserver;
  private data: TimelineData | null = null;
  private current = "";
  private playing: ReturnType<typeof setInterval> | undefined;

  /** `go(id)` asks for the table as of a snapshot. */
  constructor(private readonly vocabulary: Vocabulary, private readonly go: (id: string) => void) {
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Snapshots");
    this.element.hidden = true;
    this.chips.append(this.line);
    this.chips.addEventListener("scroll", () => this.draw());
    this.playButton = button("▶", "Play the history", () => this.play());
    this.playButton.classList.add("timeline-play");
    const steps = html("div", "timeline-steps");
    steps.append(
      button("|◀", "First snapshot", () => this.jump(0)), button("◀", "Previous snapshot ([)", () => this.step(-1)),
      button("▶", "Next snapshot (])", () => this.step(1)), button("▶|", "Last snapshot", () => this.jump(Infinity)),
    );
    this.element.append(this.chips, steps, this.playButton);
    this.label();
    this.size = new ResizeObserver(() => this.show(this.current));
    this.size.observe(this.chips);
  }

  /** What can be stepped through; null or {} where there is nothing. */
  set(data: TimelineData | Record<string, never> | null): void {
    this.data = data && "ids" in data && data.ids.length ? (data as TimelineData) : null;
    this.element.hidden = !this.data;
    if (!this.data) this.stop();
    this.show(this.current);
  }

  /** The snapshot in view. */
  show(snapshotId: string): void {
    this.current = snapshotId;
    const here = this.at(), wide = this.width();
    if (this.data) this.line.style.width = `${this.data.ids.length * wide}px`;
    if (here >= 0) {
      const left = here * wide, room = this.chips.clientWidth || 400, from = this.chips.scrollLeft;
      if (left < from || left + wide > from + room) this.chips.scrollLeft = left - room / 2;
    }
    this.draw();
  }

  step(by: number): void {
    const here = this.at();
    const next = here < 0 ? undefined : this.data?.ids[here + by];
    if (next !== undefined) this.go(next);
    else this.stop();
  }

  /** Play the history from the snapshot in view on, or stop. */
  play(): void {
    if (this.playing !== undefined) return this.stop();
    if (this.data && this.at() === this.data.ids.length - 1) this.jump(0);
    this.playing = setInterval(() => this.step(1), PLAY_MS);
    this.label();
  }

  /** What the snapshot in view is, in a line. */
  words(): string {
    const here = this.at();
    return this.data && here >= 0 ? snapshotWords(this.data, here).where : "";
  }

  close(): void {
    this.stop();
    this.size.disconnect();
  }

  private stop(): void {
    clearInterval(this.playing);
    this.playing = undefined;
    this.label();
  }

  private label(): void {
    const on = this.playing !== undefined;
    this.playButton.textContent = on ? "❚❚ Stop" : "▷ Play";
    this.playButton.setAttribute("aria-pressed", String(on));
  }

  private jump(to: number): void {
    const ids = this.data?.ids ?? [], id = ids[Math.max(0, Math.min(to, ids.length - 1))];
    if (id !== undefined) this.go(id);
  }

  private at(): number {
    return this.data ? this.data.ids.indexOf(this.current) : -1;
  }

  private width(): number {
    const count = this.data?.ids.length ?? 0;
    return chipWidth(this.chips.clientWidth, count, count + (this.data?.before ?? 0));
  }

  private draw(): void {
    if (!this.data) return;
    const here = this.at(), wide = this.width(), drawn: HTMLElement[] = [];
    const [first, last] = chipsInSight(this.chips.scrollLeft, this.chips.clientWidth, this.data.ids.length, wide);
    for (let i = first; i < last; i++) drawn.push(this.chip(this.data, i, i === here, wide));
    const active = (this.line.getRootNode() as Document | ShadowRoot).activeElement;
    const id = active instanceof HTMLElement && this.line.contains(active) ? active.dataset["snapshot"] : undefined;
    this.line.replaceChildren(...drawn);
    if (id !== undefined) drawn.find((chip) => chip.dataset["snapshot"] === id)?.focus({ preventScroll: true }); // it stays
  }

  private chip(data: TimelineData, i: number, here: boolean, wide: number): HTMLElement {
    const { refs, number, title, label } = snapshotWords(data, i), id = data.ids[i] ?? "", operation = data.operations[i] ?? "";
    const { operations, operation_marks: marks } = this.vocabulary;
    const chip = html("button", "timeline-chip"), mark = html("span", "timeline-mark");
    mark.textContent = own(marks, operation) ?? this.vocabulary.operation_mark;
    chip.append(mark, wide === WIDE_CHIP ? `${number} ${operation}` : String(number));
    chip.classList.toggle("timeline-ref", refs > 0);
    chip.type = "button";
    chip.style.left = `${i * wide}px`;
    chip.style.width = `${wide - 6}px`;
    chip.style.setProperty("--operation", own(operations, operation) ?? this.vocabulary.operation);
    chip.dataset["snapshot"] = id;
    chip.title = title;
    chip.setAttribute("aria-label", label);
    if (here) chip.setAttribute("aria-current", "true");
    chip.addEventListener("click", () => {
      this.stop();
      this.go(id);
    });
    return chip;
  }
}
