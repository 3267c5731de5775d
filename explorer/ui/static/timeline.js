// The strip of snapshots: a chip each, of which only those in sight are drawn, and what steps and plays through them.

import { button, html } from "./dom.js";
import { CHIP, chipsInSight, own, snapshotWords } from "./pure.js";

const PLAY_MS = 1400;

export class Timeline {
  // `go(id)` asks for the table as of a snapshot.
  constructor(vocabulary, go) {
    Object.assign(this, { vocabulary, go, data: null, current: "", playing: null });
    this.chips = html("div", "ix-chips");
    this.line = html("div", "ix-chipline");
    this.chips.append(this.line);
    this.chips.addEventListener("scroll", () => this.draw());
    this.where = html("span", "ix-where");
    this.play = button("▶", "Play the history", () => (this.playing ? this.stop() : this.start()));
    this.element = html("div", "ix-strip ix-hidden");
    this.element.append(
      button("◀", "Previous snapshot ([)", () => this.step(-1)), this.play,
      button("▶|", "Next snapshot (])", () => this.step(1)), this.chips, this.where,
    );
  }

  // `data` is parallel lists: ids, operations, times and refs; or {} where there is nothing to step through.
  set(data) {
    this.data = data?.ids?.length ? data : null;
    this.element.classList.toggle("ix-hidden", !this.data);
    if (this.data) this.line.style.width = `${this.data.ids.length * CHIP}px`;
    else this.stop();
    this.show(this.current);
  }

  // The snapshot in view.
  show(id) {
    this.current = id;
    this.draw(); // what is told of it beside the chips may leave them less room
    const here = this.at();
    if (here >= 0) {
      const left = here * CHIP, width = this.chips.clientWidth || 400, from = this.chips.scrollLeft;
      if (left < from || left + CHIP > from + width) this.chips.scrollLeft = left - width / 2;
    }
    this.draw();
  }

  at() {
    return this.data ? this.data.ids.indexOf(this.current) : -1;
  }

  step(by) {
    const next = this.at() + by;
    if (this.data && next >= 0 && next < this.data.ids.length) this.go(this.data.ids[next]);
    else this.stop();
  }

  start() {
    this.play.textContent = "❚❚";
    if (this.data && this.at() === this.data.ids.length - 1) this.go(this.data.ids[0]);
    this.playing = setInterval(() => this.step(1), PLAY_MS);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.play.textContent = "▶";
  }

  draw() {
    if (!this.data) return;
    const here = this.at(), drawn = [];
    const [first, last] = chipsInSight(this.chips.scrollLeft, this.chips.clientWidth, this.data.ids.length);
    for (let i = first; i < last; i++) drawn.push(this.chip(i, i === here));
    this.line.replaceChildren(...drawn);
    this.where.textContent = here < 0 ? "" : snapshotWords(this.data, here).where;
  }

  chip(i, here) {
    const { refs, number, title, label } = snapshotWords(this.data, i), id = this.data.ids[i];
    const { operations, operation } = this.vocabulary;
    const chip = html("button", `ix-chip${here ? " ix-here" : ""}${refs ? " ix-hasref" : ""}`, String(number));
    chip.type = "button";
    chip.style.left = `${i * CHIP}px`;
    chip.style.setProperty("--op", own(operations, this.data.operations[i]) || operation);
    chip.dataset.snapshot = id;
    chip.title = title;
    chip.setAttribute("aria-label", label);
    chip.addEventListener("click", () => {
      this.stop();
      this.go(id);
    });
    return chip;
  }
}
