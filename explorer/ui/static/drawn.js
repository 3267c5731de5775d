// Panel's React components write to their model each value that they have drawn, also one that came from it. A newer
// value that came meanwhile is undone so, here and at the server: a button that was disabled for a moment stays
// disabled. And what changes between a component's first drawing and its listening is not drawn. They write what they
// have set themselves, and look once more when they listen. A Panel whose text is another one is left as it is.
{
  const { prototype } = Bokeh.Models.get("panel.models.esm.ReactComponent"), theirs = prototype._render_code;
  const CHANGES = [
    ["const [value, setValue] =", "const own = React.useRef(false); $&"],
    ["setValue(targetModel.attributes[resolvedProp])", "own.current = false; $&"],
    ["react_proxy.on(prop, cb, true)", "$&; if (!target.model.events.includes(resolvedProp)) cb();"],
    ["targetModel.setv({ [resolvedProp]: value })", "if (own.current) $&"],
    [
      "return [value, setValue]",
      "return [value, React.useCallback((newer) => { own.current = true; setValue(newer); }, [])]",
    ],
  ];
  prototype._render_code = function () {
    const code = theirs.call(this), known = CHANGES.every(([before]) => code.includes(before));
    return known ? CHANGES.reduce((changed, [before, after]) => changed.replace(before, after), code) : code;
  };
}
