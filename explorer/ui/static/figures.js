// A figure saved as SVG: Bokeh's own tool saves what its canvas has, which is PNG.
const TOOL = "Save as SVG";

export async function savedAsSvg(event) {
  if (event.type === "keydown" && event.key !== "Enter") return;
  const path = event.composedPath();
  if (!path.some((element) => element.getAttribute?.("title") === TOOL)) return;
  const figure = window.Bokeh.index.query_one((view) => view.model.type === "Figure" && path.includes(view.el));
  if (!figure) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await figure.export("svg").to_blob());
  link.download = `${figure.model.name || "figure"}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
