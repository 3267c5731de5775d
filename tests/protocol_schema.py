"""Write docs/protocol.schema.json, the schema of the app's messages, from explorer.app.protocol:
python -m tests.protocol_schema."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from explorer.app.protocol import REQUESTS, VERSION

FILE = Path(__file__).parent.parent / "docs" / "protocol.schema.json"
NUMBER = {"type": "integer", "minimum": 0, "maximum": (1 << 53) - 1}
ID = {**NUMBER, "minimum": 1}
TYPES: dict[str, dict[str, Any]] = {
    "int": NUMBER, "str": {"type": "string"}, "bool": {"type": "boolean"}, "Mapping[str, Any]": {"type": "object"},
    "tuple[str, ...]": {"type": "array", "items": {"type": "string"}},
}  # fmt: skip
ANSWERS: dict[str, dict[str, Any]] = {
    "answer": {"id": ID, "data": {}},
    "progress": {"id": ID, "text": {"type": "string"}, "done": {"type": "integer"}, "total": {"type": "integer"}},
    "error": {
        "id": NUMBER,
        "text": {"type": "string"},
        "kind": {"enum": ["error", "usage", "cancelled"]},
        "position": NUMBER,
    },
}


def message(kind: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """Return the schema of one kind of message."""
    return {
        "type": "object",
        "properties": {"type": {"const": kind}, **properties},
        "required": ["type", *required],
        "additionalProperties": False,
    }


def schema() -> dict[str, Any]:
    """Return the schema: `request` is what a browser sends, `answer` what it gets."""
    definitions = {}
    for kind, request in REQUESTS.items():
        described = fields(request)
        needed = [one.name for one in described if one.default is MISSING and one.default_factory is MISSING]
        given = {one.name: TYPES[str(one.type)] for one in described} | {"id": ID}
        definitions[f"request.{kind}"] = message(kind, given, needed)
    for kind, properties in ANSWERS.items():
        needed = [name for name in properties if name != "position"]
        definitions[f"answer.{kind}"] = message(kind, properties, needed)
    sides = {
        side: {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in definitions if name.startswith(f"{side}.")]}
        for side in ("request", "answer")
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Messages of the app, version {VERSION}",
        "$defs": {**definitions, **sides},
    }


def text() -> str:
    """Return the file's text."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
