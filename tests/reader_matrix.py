"""The matrix of readers and features in docs/reader-support.md, from what is known of readers.

python -m tests.reader_matrix
"""

from __future__ import annotations

from pathlib import Path

from explorer.reports.readers import reader_support

PAGE = Path(__file__).parents[1] / "docs" / "reader-support.md"
BEGIN, END = "<!-- matrix -->\n", "<!-- /matrix -->\n"
WORDS = {"yes": "yes", "no": "**no**", "wrong": "**wrong**"}


def matrix() -> str:
    """Write a row for each feature and a column for each reader."""
    support = reader_support()
    features = sorted({feature for known in support.values() for feature in known})
    head = ["feature", *(f"{reader.name} {reader.version}".strip() for reader in support)]
    rows = []
    for feature in features:
        cells = []
        for known in support.values():
            one = known.get(feature)
            word = WORDS.get(one.reads, "?") if one else "?"
            cells.append(word if word == "?" or (one and one.is_tried) else f"{word} *d*")
        rows.append([feature.replace("-", " "), *cells])
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def page() -> str:
    """The page with the matrix as it is now."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return before + BEGIN + matrix() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
