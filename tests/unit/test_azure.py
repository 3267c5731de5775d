"""Which keys go to which account of Azure."""

from __future__ import annotations

import pytest

from explorer.storage import azure

OURS = "lake@ours.dfs.core.windows.net"
STRING = "AccountName=ours;AccountKey=c2VjcmV0;BlobEndpoint=http://127.0.0.1:1/ours"


def config(authority: str, **properties: str) -> dict[str, object]:
    made = azure.container(authority, {f"adls.{k}": v for k, v in properties.items()}, {}, {})
    assert made is not None
    return {str(k): v for k, v in made.config.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("authority", "properties", "key", "value"),
    [
        (OURS, {"account-name": "ours", "account-key": "c2VjcmV0"}, "account_key", "c2VjcmV0"),
        (OURS, {"account-key": "c2VjcmV0"}, "account_key", "c2VjcmV0"),
        ("lake", {"account-name": "ours", "account-key": "c2VjcmV0"}, "account_name", "ours"),
        ("lake", {"connection-string": STRING}, "account_name", "ours"),
        ("lake", {"connection-string": STRING}, "endpoint", "http://127.0.0.1:1/ours"),
        ("lake", {"sas-token.ours.dfs.core.windows.net": "sig=x"}, "sas_key", "sig=x"),
        (OURS, {"sas-token": "sig=x"}, "sas_key", "sig=x"),
        (OURS, {"token": "t"}, "token", "t"),
        (OURS, {"tenant-id": "a", "client-id": "b", "client-secret": "c"}, "client_secret", "c"),
        (OURS, {"anon": "true", "account-key": "c2VjcmV0"}, "skip_signature", "true"),
    ],
)
def test_what_is_configured_is_used(authority: str, properties: dict[str, str], key: str, value: str) -> None:
    assert next(v for k, v in config(authority, **properties).items() if k.endswith(key)) == value


@pytest.mark.parametrize(
    "properties",
    [
        {"account-name": "ours", "account-key": "c2VjcmV0"}, {"account-name": "ours", "sas-token": "sig=c2VjcmV0"},
        {"sas-token.ours.dfs.core.windows.net": "sig=c2VjcmV0"}, {"connection-string": STRING},
    ],
)  # fmt: skip
def test_another_account_gets_no_keys(properties: dict[str, str]) -> None:
    told = config("lake@theirs.dfs.core.windows.net", **properties)
    assert "c2VjcmV0" not in str(told)
    assert "127.0.0.1" not in str(told)


@pytest.mark.parametrize("host", ["evil.example", "evil.example/x", "127.0.0.1", "a", "UPPER.dfs.core.windows.net"])
def test_a_uri_names_no_host(host: str) -> None:
    """The account is all that is taken of it."""
    made = azure.container(f"lake@{host}", {"adls.account-key": "c2VjcmV0"}, {}, {})
    assert made is None or "example" not in str(made.config)  # type: ignore[attr-defined]
