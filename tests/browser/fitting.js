// What tests/browser/test_modes_fit.py asks of a page, all shadow roots with it.

(() => {
  const SLACK = 1.5, DOWN = 3.5;  // pixels that a text may stand out of its frame: fonts' lines are higher than letters
  const SILENT = ["STYLE", "SCRIPT", "TITLE", "OPTION"];
  const SCROLLED = ".graph-stage, .graph-frame, .timeline-chips, .tabs";  // what scrolls, or is panned
  const WHOLE = "[role=tab], .facts button, .stage-tools button, .header button";  // these say all of it, and no ellipsis
  const ABOVE = ".stage-legend, .stage-working, .working, .preview, .menu-box, .pinned, .cell, .graph-heads, "
    + ".graph-card *, .timeline-mark, [role=alert], [role=status], dialog";
  const CUT = ".graph-card, .cell";  // their texts are cut, in the middle or at the end, and their titles say all
  const SIGNS = ".timeline-mark, .graph-operation, .graph-sign, .graph-legend-sign";  // beside words that say the same
  const UNDER_WAY = /^(Connecting|Reading|Opening|Looking|Counting|running|Cancel$)/;

  const inside = (e) => (e.shadowRoot ? [e, ...within(e.shadowRoot)] : [e]);
  const within = (root) => [...root.querySelectorAll("*")].flatMap(inside);
  const parent = (e) => e.assignedSlot || e.parentElement || (e.getRootNode().host ?? null);
  const inMain = (e) => e !== null && (e.matches("main") || inMain(parent(e)));
  const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && getComputedStyle(e).clipPath === "none";
  const texts = (e) => [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
  const words = (e) => texts(e).map((n) => n.data.trim()).join(" ");
  const saying = () => within(document).filter((e) => !SILENT.includes(e.tagName) && texts(e).length && shown(e));

  // Whether a view shows something, the same twice in a row, and nothing is under way.
  let before = "", same = 0;
  window.settled = (anew = false) => {
    const said = saying(), now = `${within(document).length} ${said.map(words).join("|")}`;
    same = now === before && !anew ? same + 1 : 0;
    before = now;
    const some = said.some((e) => !e.matches("[role=tab]") && inMain(e));
    return same > 1 && some && !said.some((e) => UNDER_WAY.test(words(e)) || e.getAnimations().length);
  };

  // Where an element's parents let it be seen; which of them cut it off for good; and whether with an ellipsis.
  const frame = (element) => {
    const cuts = [];
    let box = { left: 0, top: 0, right: innerWidth, bottom: innerHeight }, scrolled = false, ellipsis = false;
    for (let e = element; e && e !== document.documentElement; e = parent(e)) {
      if (e instanceof SVGElement && e.tagName !== "svg") continue;
      const { overflowX, overflowY, display, textOverflow } = getComputedStyle(e), ways = [overflowX, overflowY];
      if (["inline", "contents"].includes(display) || ways.every((way) => way === "visible")) continue;
      const r = e.getBoundingClientRect();
      ellipsis ||= textOverflow === "ellipsis";
      scrolled ||= e.matches(SCROLLED) || ways.some((way) => ["auto", "scroll"].includes(way));
      if (!scrolled) cuts.push(r);
      box = { left: Math.max(box.left, r.left), top: Math.max(box.top, r.top),
        right: Math.min(box.right, r.right), bottom: Math.min(box.bottom, r.bottom) };
    }
    return { box, cuts, ellipsis };
  };
  const leaves = (r, c) => r.left < c.left - SLACK || r.right > c.right + SLACK
    || r.top < c.top - DOWN || r.bottom > c.bottom + DOWN;
  const lines = (e) => {
    if (e instanceof SVGElement) return [e.getBoundingClientRect()];
    const range = document.createRange();
    return texts(e).flatMap((text) => {
      range.selectNode(text);
      return [...range.getClientRects()];
    });
  };

  // What lets itself be scrolled sideways, and has to be; and controls that are right of the page. Grids, the graph,
  // the timeline, tabs, small tables, other SVG in a box of its own, and listings may be wider than the page.
  const WIDE = ".grid-box, .graph-stage, .timeline-chips, .tabs, .picture, .small-table-box, .inspector-scroll, .json-tree, pre";
  const SPOKEN = "button, input, select, textarea, [role=button], [role=combobox]";
  const free = (e) => e !== null && (e.matches(WIDE) || free(parent(e)));
  const scrolls = (e) => {
    if (!(e instanceof HTMLElement) || e.scrollWidth - e.clientWidth < 3) return false;
    if (e.querySelector(":scope > svg")) return false;
    return ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && shown(e) && !free(e);
  };
  const beyond = (e) => {
    const r = e.getBoundingClientRect();
    return r.width > 1 && shown(e) && !free(e) && r.right > innerWidth + 3 && r.bottom > 0 && r.top < innerHeight;
  };
  const spoken = (e) => (e.ariaLabel || e.textContent || e.shadowRoot?.textContent || "").trim().slice(0, 40);
  const called = (e) => `${e.tagName.toLowerCase()}.${e.classList[0] ?? ""} "${spoken(e)}"`;

  // Texts that leave their frames or lie on each other, and a page that scrolls sideways.
  window.misfits = () => {
    const bad = [], seen = [], wide = document.documentElement.scrollWidth;
    if (wide > innerWidth) bad.push(`the page is ${wide} pixels wide`);
    const aside = within(document).filter(scrolls);
    bad.push(...aside.map((e) => `${called(e)} scrolls sideways, by ${e.scrollWidth - e.clientWidth} pixels`));
    const off = within(document).filter((e) => e.matches(SPOKEN) && beyond(e));
    bad.push(...off.map((e) => `${called(e)} is beyond the edge`));
    for (const e of saying()) {
      const { box, cuts, ellipsis } = frame(e), all = !ellipsis || e.matches(WHOLE);
      for (const r of lines(e)) {
        if (all && !e.closest(CUT) && cuts.some((cut) => leaves(r, cut))) bad.push(`"${words(e).slice(0, 60)}" leaves its frame`);
        const [left, right] = [Math.max(r.left, box.left), Math.min(r.right, box.right)];
        const [top, bottom] = [Math.max(r.top, box.top), Math.min(r.bottom, box.bottom)];
        if (right - left > 2 && bottom - top > 2) seen.push({ e, left, right, top, bottom });
      }
    }
    seen.sort((a, b) => a.left - b.left);
    for (const [i, a] of seen.entries()) {
      for (const b of seen.slice(i + 1)) {
        if (b.left > a.right - 3) break;
        if (Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) < 4 || a.e === b.e) continue;
        if (a.e.contains(b.e) || b.e.contains(a.e) || a.e.closest(ABOVE) || b.e.closest(ABOVE)) continue;
        bad.push(`"${words(a.e).slice(0, 60)}" and "${words(b.e).slice(0, 60)}" overlap`);
      }
    }
    return [...new Set(bad)];
  };

  // ---- who cannot see, or not well ----------------------------------------------------------------------------------
  const LEAST = 4.5, LARGE = 3;
  const OFF = "[disabled], [aria-disabled=true], .graph-dim, label:has([disabled])";
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true }), known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const covers = (shape, text) => {
    const [s, t] = [shape, text].map((e) => e.getBoundingClientRect());
    return s.left <= t.left && s.right >= t.right && s.top <= t.top + DOWN && s.bottom >= t.bottom - DOWN;
  };
  const ground = (e) => {
    const layers = [];
    const shapes = e instanceof SVGElement ? [...e.parentNode.querySelectorAll("circle, rect")] : [];
    const before = (s) => e.compareDocumentPosition(s) & Node.DOCUMENT_POSITION_PRECEDING;
    const filled = (s) => getComputedStyle(s).fill !== "none";
    const shape = shapes.filter((s) => before(s) && filled(s) && covers(s, e)).at(-1);  // what is painted last
    if (shape) {
      const { fill, fillOpacity, opacity } = getComputedStyle(shape), [r, g, b, a] = rgba(fill);
      layers.push([r, g, b, a * fillOpacity * opacity]);
    }
    for (let at = e; at && !layers.some(([, , , a]) => a === 1); at = parent(at)) {
      const { backgroundColor, backgroundImage } = getComputedStyle(at);
      if (backgroundImage !== "none") return null;
      layers.push(rgba(backgroundColor));
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const contrast = (a, b) => {
    const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  const named = (e) => {
    const ids = (e.getAttribute("aria-labelledby") || "").split(" ");
    const by = ids.map((id) => id && e.getRootNode().getElementById(id));
    const of = [...(e.labels || []), ...by.filter((other) => other)].map((other) => other.textContent).join("");
    const own = e.getAttribute("aria-label") || e.title || of || e.placeholder;
    return (own || [e, ...within(e)].map(words).join("")).trim();
  };
  const NAMED = "button, input, select, textarea, [role=button], [role=img], [role=progressbar], [role=combobox]";

  // Controls and pictures without a name, and texts that are too faint for their ground.
  window.unreachable = () => {
    const asked = within(document).filter((e) => e.matches(NAMED) && shown(e) && !e.closest("[aria-hidden=true]"));
    const nameless = asked.filter((e) => !named(e));
    const bad = nameless.map((e) => `no name: ${e.outerHTML.slice(0, 90)}`);
    for (const e of saying()) {
      const style = getComputedStyle(e), below = e.closest(OFF) || e.matches(SIGNS) ? null : ground(e);
      if (!below) continue;
      const drawn = e instanceof SVGElement && style.fill !== "none" ? style.fill : style.color;
      let [r, g, b, a] = rgba(drawn);
      for (let at = e; at; at = parent(at)) a *= Number(getComputedStyle(at).opacity);
      const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.6 && style.fontWeight >= 700);
      const found = contrast(over([r, g, b, a], below), below);
      if (found < (large ? LARGE : LEAST)) bad.push(`"${words(e).slice(0, 40)}" is faint (${found.toFixed(1)})`);
    }
    return [...new Set(bad)];
  };
})();
