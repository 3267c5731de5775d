"""What may be kept of the place that a page shows, where it is kept in a file: JupyterLab's workspace."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.app.protocol import BadMessage, parse
from explorer.spec.secrets.redaction import metadata_without_secrets, redact


def harmless_place(place: Mapping[str, str]) -> dict[str, str]:
    """Return a place without the texts that have a credential; nothing where the table's own text has one.

    Args:
        place: The parameters of a page's address, by their names.

    Returns:
        Those that may be kept, as they are.
    """
    if _has_secret(place.get("table", "")):
        return {}
    return {name: text for name, text in place.items() if not _has_secret(text)}


def _has_secret(text: str) -> bool:
    """Whether a text, or the JSON that it is, has a credential."""
    if redact(text) != text:
        return True
    try:
        data = parse(text)
    except BadMessage:
        return False
    return bool(metadata_without_secrets(data) != data)
