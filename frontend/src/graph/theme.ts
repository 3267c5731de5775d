// Whether the app is dark, and whether the page around it is.

/** Whether an element is dark, by the tokens of the app. */
export function isDark(element: Element): boolean {
  const scheme = getComputedStyle(element).colorScheme || "light";
  if (scheme.includes("dark") && scheme.includes("light")) return matchMedia("(prefers-color-scheme: dark)").matches;
  return scheme.includes("dark");
}

/** Call `changed` when the theme of an element in the page may have changed. Returns what ends it. */
export function watchTheme(element: Element, changed: () => void): () => void {
  const watch = new MutationObserver(changed), media = matchMedia("(prefers-color-scheme: dark)");
  const options = { attributes: true, attributeFilter: ["data-theme"], subtree: true };
  for (const root of new Set<Node>([element.getRootNode(), document])) watch.observe(root, options);
  media.addEventListener("change", changed);
  return () => {
    watch.disconnect();
    media.removeEventListener("change", changed);
  };
}

/**
 * Whether a background colour is dark; null if it is none that one sees. Browsers compute rgb(…) in 0 to 255, and
 * color(srgb …), into which they turn mixed colours, in 0 to 1; of other spaces the lightness comes first.
 */
export function isDarkColor(color: string): boolean | null {
  const [, name = "", space = ""] = /^([\w-]+)\((?:(srgb|srgb-linear|display-p3)\s)?/.exec(color) ?? [];
  const given = color.slice(name ? name.length + 1 + space.length : 0);
  const [a = 0, b = 0, c, alpha = 1] = (given.match(/[+-]?[\d.]+(?:e[+-]?\d+)?/gi) ?? []).map(Number);
  if (c === undefined || alpha < 0.5) return null;
  if (/^(ok)?l(ab|ch)$/.test(name)) return a / (name.startsWith("ok") ? 1 : 100) < 0.45;
  return (0.3 * a + 0.59 * b + 0.11 * c) * (name === "color" ? 255 : 1) < 110;
}

/**
 * Give an element the theme of the page around it, for hosts that have a theme of their own: what JupyterLab says of its
 * page decides, elsewhere the nearest background that one sees. Returns what ends it.
 */
export function followTheme(element: HTMLElement): () => void {
  const look = (): void => {
    const isLight = document.body.dataset["jpThemeLight"];
    let node: Node | null = element.parentNode, dark: boolean | null = isLight ? isLight === "false" : null;
    while (node && dark === null) {
      if (node instanceof Element) dark = isDarkColor(getComputedStyle(node).backgroundColor);
      node = node instanceof ShadowRoot ? node.host : node.parentNode;
    }
    if (dark !== null) element.dataset["theme"] = dark ? "dark" : "light";
  };
  const watch = new MutationObserver(() => setTimeout(look, 60));
  for (const node of [document.documentElement, document.body]) watch.observe(node, { attributes: true });
  look();
  return () => watch.disconnect();
}
