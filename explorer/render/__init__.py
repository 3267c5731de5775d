"""Pure renderers: text, JSON rows, DOT, SVG and HTML over the same data objects."""
