"""Containers of Azure's blob storage, by obstore: whose they are, with which of pyiceberg's properties they open."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

SCHEMES = ("abfs", "abfss", "wasb", "wasbs")
OAUTH = {"tenant_id": "adls.tenant-id", "client_id": "adls.client-id", "client_secret": "adls.client-secret"}
"""obstore's names, and pyiceberg's."""


def account_of(authority: str, properties: Mapping[str, str]) -> str:
    """The account of `container@account.dfs.core.windows.net`, or of `container` alone that of the properties."""
    _, at, host = authority.partition("@")
    if at:
        return host.partition(".")[0]
    account = _parts(properties).get("AccountName") or properties.get("adls.account-name")
    named = (name.removeprefix("adls.sas-token.") for name in properties if name.startswith("adls.sas-token."))
    return account or next(named, "").partition(".")[0]


def container(
    authority: str, properties: Mapping[str, str], patience: ClientConfig, retry: RetryConfig,
    only_to: Callable[[str], ClientConfig] = lambda _: {},
) -> ObjectStore | None:  # fmt: skip
    """A container with the keys of the properties, else with what the environment offers; None without an account. Its
    host is made of the account's name: a URI of a table names none. A connection string brings its own keys, and
    `only_to` the options with which a client asks no other host than its endpoint's."""
    from obstore.store import AzureStore

    account = account_of(authority, properties)
    if not re.fullmatch(r"[a-z0-9]{3,24}", account):  # Azure's rule for names
        return None
    config: dict[str, Any] = {"account_name": account}
    endpoint = ""
    if (parts := _parts(properties)) and parts.get("AccountName", account) == account:
        endpoint = parts.get("BlobEndpoint", "")
        key, signature = parts.get("AccountKey"), parts.get("SharedAccessSignature")
        config |= {"endpoint": endpoint} if endpoint else {}
        if key:
            config |= {"account_key": key, "credential_type": "access_key"}
        elif signature:
            config |= {"sas_key": signature, "credential_type": "sas_token"}
        else:
            config["skip_signature"] = True
    else:
        config |= _keys(account, properties)
    return AzureStore(
        authority.partition("@")[0],
        config=config,  # type: ignore[arg-type]
        client_options={**patience, **only_to(endpoint), "allow_http": endpoint.startswith("http://")},
        retry_config=retry,
    )


def _keys(account: str, properties: Mapping[str, str]) -> dict[str, Any]:
    """Those for an account: a key or signature that is another's is not used."""
    own = properties.get("adls.account-name") in (None, account)
    signatures = (
        value for name, value in properties.items() if f"{name}.".startswith(f"adls.sas-token.{account}.")
    )  # fmt: skip
    signature = next(signatures, properties.get("adls.sas-token") if own else None)
    if str(properties.get("adls.anon", "")).lower() == "true":
        return {"skip_signature": True}
    if (key := properties.get("adls.account-key")) and own:
        return {"account_key": key, "credential_type": "access_key"}
    if signature:
        return {"sas_key": signature, "credential_type": "sas_token"}
    if (token := properties.get("adls.token")) and own:
        return {"token": token, "credential_type": "bearer_token"}
    named = {ours: properties[name] for ours, name in OAUTH.items() if properties.get(name) and own}
    return {**named, **({"credential_type": "client_secret"} if len(named) == len(OAUTH) else {})}


def _parts(properties: Mapping[str, str]) -> dict[str, str]:
    """What a connection string says."""
    pairs = (part.partition("=") for part in properties.get("adls.connection-string", "").split(";"))
    return {name: value for name, is_there, value in pairs if is_there}
