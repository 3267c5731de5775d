"""The JSON of each answer as a JSON schema, docs/schemas: what every teaching table's answers have, and nothing else.
`python -m tests.answer_schemas` writes them; tests/golden/test_answer_schemas.py holds answers against them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import explorer
from explorer.lab.scenarios import SCENARIOS
from tests.golden.every_question import ASKED, LONG, arguments, method
from tests.golden.test_json_documents import DATA, PROCEDURES

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"
MORE: dict[tuple[str, ...], dict[str, Any]] = {("readers",): {"upgrade": 4}}
"""Options with which an answer has more."""
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


class Shape:
    """What values at one place of an answer are."""

    def __init__(self, question: str, place: str = "") -> None:
        self.question, self.place = question, place
        self.types: set[str] = set()
        self.properties: dict[str, Shape] = {}
        self.required: set[str] | None = None
        self.values: Shape | None = None
        self.items: Shape | None = None

    def add(self, value: Any) -> None:
        """Take a value into account."""
        if isinstance(value, dict):
            self.types.add("object")
            names = {key for key in value if not self._is_data(key)}
            self.required = names if self.required is None else self.required & names
            for key, inner in value.items():
                if key in names:
                    part = self.properties.setdefault(key, Shape(self.question, f"{self.place}.{key}"))
                else:
                    part = self.values = self.values or Shape(self.question, f"{self.place}.{key}")
                part.add(inner)
        elif isinstance(value, list):
            self.types.add("array")
            self.items = self.items or Shape(self.question, f"{self.place}[]")
            for item in value:
                self.items.add(item)
        else:
            self.types.add(TYPES[type(value)])

    def _is_data(self, key: str) -> bool:
        return "/" in key or DATA.fullmatch(f"{self.question} {self.place}.{key}") is not None

    def schema(self) -> dict[str, Any]:
        """The shape as JSON schema; of what is a table's own data any value."""
        if self._is_data("x"):
            return {}
        types = self.types - ({"integer"} if "number" in self.types else set())
        told: dict[str, Any] = {"type": sorted(types) if len(types) > 1 else next(iter(types), "null")}
        if "object" in types:
            told |= {
                "properties": {name: part.schema() for name, part in sorted(self.properties.items())},
                "required": sorted(self.required or ()),
                "additionalProperties": self.values.schema() if self.values else False,
            }
        if self.items is not None and self.items.types:
            told["items"] = self.items.schema()
        return told


def answers(name: str) -> Iterator[tuple[str, Any]]:
    """The JSON of every question of a teaching table, with the question's words."""
    table = explorer.open_table(f"demo.{name}")
    for one in ASKED:
        if one.path in LONG and name == "long_history":
            continue
        asked = [[word] for word in PROCEDURES] if one.path == ("maintain", "preview") else arguments(one, table)
        for words in asked:
            given: dict[str, Any] = {"name": words[2], "snapshot": "main"} if "--name" in words else {}
            positional = [[words[0]]] if one.path == ("scan", "estimate") else words[: 1 if given else None]
            try:
                answer = method(one, table)(*positional, **given)
            except explorer.ExplorerError:
                continue
            yield " ".join(one.path), json.loads(json.dumps(answer.to_json()))
        if more := MORE.get(one.path):
            yield " ".join(one.path), json.loads(json.dumps(method(one, table)(**more).to_json()))


def file_of(question: str) -> Path:
    """The schema of a question's answers."""
    return FOLDER / f"{question.replace(' ', '-')}.schema.json"


def write() -> None:
    """Write the schemas anew."""
    shapes: dict[str, Shape] = {}
    for scenario in SCENARIOS:
        for question, data in answers(scenario.name):
            shapes.setdefault(question, Shape(question)).add(data)
    FOLDER.mkdir(exist_ok=True)
    for question, shape in shapes.items():
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"icedive {question} --output json"}
        file_of(question).write_text(json.dumps({**head, **shape.schema()}, indent=1) + "\n")


if __name__ == "__main__":
    write()
