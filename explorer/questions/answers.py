"""Answers: each is data that shows itself as JSON, as text, as rows, and as blocks from which a page is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

from explorer.errors import NotPossible, WrongUsage
from explorer.render.blocks import Block, Picture, Rows, Text
from explorer.spec.doctor.rules import Level
from explorer.storage.whole_files import os_error_words, write_whole

if TYPE_CHECKING:
    import pyarrow as pa

    from explorer.queries.collection import Collection

T = TypeVar("T")
JSON_FORMAT = 1
"""The version of all JSON documents. It rises when a key is renamed or removed, or means something else."""
LONGEST = 200_000
"""Characters of a text that a notebook prints."""


@runtime_checkable
class Result(Protocol):
    """What every answer can do. Lists of rows (queries.collection.Collection) are such answers too."""

    def to_json(self) -> Any:
        """Return the answer as JSON data."""

    def to_text(self) -> str:
        """Return the answer as text."""

    def to_arrow(self) -> pa.Table:
        """Return the answer's rows. Raises NotPossible for an answer that has none."""

    def blocks(self) -> Sequence[Block]:
        """Return the parts of a page that shows the answer."""


@dataclass(frozen=True, repr=False)
class Answer(Generic[T]):
    """One answer.

    Args:
        value: The answer as an object.
        json: Makes JSON data of it. Values of the mapping that are iterators are made as they are printed.
        text: Makes the lines of its text.
        rows: Makes its main rows, where it has rows.
        picture: Makes its picture as SVG, where it has one.
        html: Makes what a notebook and a page show in place of the text.
        level: Says how good the news is, once the text or the JSON is made.
        notes: What is to be known beside the answer, a sentence each.
        parts: Makes the parts of a page that shows it; without, these are its picture, its text and its rows.
        is_graph: Whether the picture is a graph of the table's files, which a page draws itself.
        is_table: Whether the text is a table of the rows, and says no more than they.
        metadata_file: The metadata file that the question read, if it opens the table or the view itself.
    """

    value: T
    json: Callable[[], Any]
    text: Callable[[], Iterable[str]]
    rows: Callable[[], Collection] | None = None
    picture: Callable[[], str] | None = None
    html: Callable[[], str] | None = None
    level: Callable[[], Level] = field(default=lambda: "ok")
    notes: tuple[str, ...] = ()
    parts: Callable[[], Sequence[Block]] | None = None
    is_graph: bool = False
    is_table: bool = False
    metadata_file: str = ""

    def document(self) -> Any:
        """Return the answer as a JSON document, whose parts are made as they are printed.

        Returns:
            The JSON data. An object begins with `json_format`; a list of rows is only its rows.
        """
        data = self.json()
        return {"json_format": JSON_FORMAT, **data} if isinstance(data, Mapping) else data

    def to_json(self) -> Any:
        """Return the answer as JSON data.

        Returns:
            A dict or a list, under the spec's field names. A dict begins with `json_format`.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.overview().to_json()["data_files"]
            3
        """
        data = self.document()
        if isinstance(data, Mapping):
            return {name: list(value) if isinstance(value, Iterator) else value for name, value in data.items()}
        return list(data) if isinstance(data, Iterator) else data

    def lines(self) -> Iterator[str]:
        """Return the text, a line at a time, as it is made.

        Yields:
            Lines without their ends.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> next(table.diff("snapshot-1", "snapshot-2").lines())
            'snapshot-2 added manifest-2 with 1 data file'
        """
        for part in self.text():
            yield from part.rstrip("\n").split("\n")

    def to_text(self) -> str:
        """Return the answer as text.

        Returns:
            What the command line prints.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> print(table.check.conflict("snapshot-1", "append").to_text().splitlines()[-2])
            isolation: serializable
        """
        return "\n".join(self.lines()) + "\n"

    def to_svg(self) -> str:
        """Return the answer's picture.

        Returns:
            The picture as SVG.

        Raises:
            NotPossible: The answer has no picture.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.history.lineage().to_svg().startswith("<svg")
            True
        """
        if self.picture is None:
            raise NotPossible("this answer has no picture")
        return self.picture()

    def _repr_svg_(self) -> str | None:
        from explorer.render.pictures import with_white_ground

        return with_white_ground(self.picture()) if self.picture else None

    def to_html(self) -> str:
        """Return the answer as a page of its own, which opens from disk and needs no script.

        Returns:
            The page as HTML.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.overview().to_html().startswith("<!doctype html>")
            True
        """
        from explorer.render.html_page import still_page

        text, drawn = repr(self), self.picture() if self.picture else ""
        return still_page(text.partition("\n")[0], f"{drawn}{self._below(text)}")

    def save_picture(self, file: Path) -> None:
        """Write the answer's picture into a file.

        Args:
            file: The file: .svg, or .html for a page with the text beside the picture.

        Raises:
            WrongUsage: The answer has no picture, or the file is neither.
            NotPossible: The file cannot be written.
        """
        check_picture_file(file)
        if self.picture is None:
            raise WrongUsage("this answer has no picture")
        text = self.to_html() if file.suffix == ".html" else self.to_svg()
        try:
            write_whole(file, text)
        except OSError as error:
            raise NotPossible(f"{os_error_words(error)}") from error

    def to_arrow(self) -> pa.Table:
        """Return the answer's rows.

        Returns:
            The rows as a pyarrow.Table.

        Raises:
            NotPossible: The answer is not a list of rows.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> table.history.commits().to_arrow()["operation"].to_pylist()
            ['append', 'append', 'append']
        """
        if self.rows is None:
            raise NotPossible("this answer is not a list of rows")
        return self.rows().to_arrow()

    def blocks(self) -> Sequence[Block]:
        """Return the parts of a page that shows the answer.

        Returns:
            What answers the question, in words, pictures and rows.

        Example:
            >>> table = explorer.open_table("demo.three_inserts")
            >>> [type(block).__name__ for block in table.overview().blocks()]
            ['Picture', 'Text']
        """
        from explorer.render.text import clean

        if self.parts is not None:
            return self.parts()
        parts: list[Block] = [Picture(self.picture(), self.is_graph)] if self.picture else []
        if not (self.is_table and self.rows):
            parts.append(Text(tuple(map(clean, self.lines()))))
        return [*parts, Rows(self.rows())] if self.rows else parts

    def __repr__(self) -> str:
        from explorer.render.text import clean

        text, size = [], 0
        for line in map(clean, self.lines()):
            size += len(line) + 1
            if size > LONGEST:
                text.append("… the text goes on: to_text() returns all of it")
                break
            text.append(line)
        return "\n".join(text)

    def _repr_html_(self) -> str:
        from explorer.render.pictures import still
        from explorer.render.text import not_typeset

        text = repr(self)
        drawn = still(self.picture(), text.partition("\n")[0]) if self.picture else ""
        return not_typeset(f"{drawn}{self._below(text)}")

    def __panel__(self) -> Any:
        """As other people's Panel apps show it."""
        import panel

        return panel.pane.HTML(self._repr_html_(), sizing_mode="stretch_width")

    def _below(self, text: str) -> str:
        """What stands below the picture: facts, or the text, folded where there is a picture."""
        from explorer.questions.block_html import blocks_html
        from explorer.render.text import pre

        if self.html:
            return self.html()
        if self.picture is None and self.parts is not None and (html := blocks_html(self.parts())) is not None:
            return html
        return f"<details><summary>as text</summary>{pre(text)}</details>" if self.picture else pre(text)


def check_picture_file(file: Path) -> None:
    """Check what can be known of a picture's file before it is drawn. Raises WrongUsage, NotPossible."""
    if file.suffix not in (".html", ".svg"):
        raise WrongUsage(f"{file.name}: a picture is drawn as .html or .svg")
    if not file.parent.is_dir():
        raise NotPossible(f"{file} cannot be written: there is no folder {file.parent}")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise NotPossible(f"{file} cannot be written: permission denied")
