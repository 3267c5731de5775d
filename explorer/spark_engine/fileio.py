"""Storage properties as pyiceberg names them, and the FileIO of Iceberg's Java that takes them by its own names.

What is passed on is on a list: whatever else a configuration has (classes above all) never reaches Java."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.errors import NotSupported
from explorer.spark_engine.java import BUNDLES, Bundle
from explorer.storage.stores import KEYS, LEFT, SIGNING_URL, split_uri

ANONYMOUS = "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider"
_S3 = {
    "endpoint": "s3.endpoint", "access_key_id": "s3.access-key-id", "secret_access_key": "s3.secret-access-key",
    "session_token": "s3.session-token", "region": "client.region",
}  # fmt: skip
_ENVIRONMENT = {
    "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    "access_key_id": ("AWS_ACCESS_KEY_ID",),
    "secret_access_key": ("AWS_SECRET_ACCESS_KEY",),
    "session_token": ("AWS_SESSION_TOKEN",),
    "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
}
"""Read here, since the environment of a JVM is that of its start."""
_TIMEOUTS = {
    "s3.connect-timeout": "http-client.apache.connection-timeout-ms",
    "s3.request-timeout": "http-client.apache.socket-timeout-ms",
}
_CREDENTIALS = ("access_key_id", "secret_access_key", "session_token")
_SAS = "adls.sas-token."
_SECRET = (
    "s3.access-key-id", "s3.secret-access-key", "s3.session-token", "gcs.oauth2.token",
    "adls.auth.shared-key.account.key", "adls.token",
)  # fmt: skip
_GCS = ("gcs.project-id", "gcs.oauth2.token", "gcs.oauth2.token-expires-at", "gcs.service.host")


@dataclass(frozen=True)
class JavaFileIO:
    """A FileIO class of Iceberg's, its properties (secrets, never to be shown), and the jar that it needs beside
    Iceberg's own (None: none)."""

    implementation: str
    properties: Mapping[str, str] = field(repr=False)
    bundle: Bundle | None = None

    @property
    def secrets(self) -> frozenset[str]:
        """Values that no text may show."""
        return frozenset(v for k, v in self.properties.items() if v and (k in _SECRET or k.startswith(_SAS)))


def java_file_io(uri: str, properties: Mapping[str, str]) -> JavaFileIO:
    """What opens a URI with these properties of pyiceberg's; Hadoop's file systems, as Spark's own settings have them,
    for local files and other schemes. Raises NotSupported for a setting that Spark is not given here."""
    scheme, authority, _ = split_uri(uri)
    if scheme in ("s3", "s3a", "s3n"):
        return JavaFileIO("org.apache.iceberg.aws.s3.S3FileIO", _s3(properties), BUNDLES["aws"])
    if scheme in ("gs", "gcs"):
        kept = {name: str(properties[name]) for name in _GCS if properties.get(name)}
        return JavaFileIO("org.apache.iceberg.gcp.gcs.GCSFileIO", kept, BUNDLES["gcp"])
    if scheme in ("abfs", "abfss", "wasb", "wasbs"):
        account = authority.rpartition("@")[2]
        return JavaFileIO("org.apache.iceberg.azure.adlsv2.ADLSFileIO", _adls(account, properties), BUNDLES["azure"])
    return JavaFileIO("org.apache.iceberg.hadoop.HadoopFileIO", {})


def _s3(properties: Mapping[str, str]) -> dict[str, str]:
    if properties.get(SIGNING_URL):
        raise NotSupported(
            "the catalog signs each request to its storage itself (remote signing), and Spark is not given that here: "
            "let it vend credentials, or give keys of your own"
        )
    for name in LEFT:
        if properties.get(name) and name != "s3.resolve-region":
            raise NotSupported(
                f"{name} is not passed on to Spark: give it keys (s3.access-key-id, s3.secret-access-key), or leave "
                "them to AWS's own environment and profile (AWS_PROFILE)"
            )
    settings_by_key = {ours: _first(properties, names) for ours, names in KEYS.items()}
    anonymous = _yes(properties.get("s3.anonymous"))
    # keys belong together: what one source has is not completed from another
    own = anonymous or settings_by_key["access_key_id"] is not None
    for ours, names in _ENVIRONMENT.items():
        if not settings_by_key[ours] and not (own and ours in _CREDENTIALS):
            settings_by_key[ours] = _first(os.environ, names)
    settings = {
        _S3[ours]: value
        for ours, value in settings_by_key.items()
        if value and not (anonymous and ours in _CREDENTIALS)
    }
    if anonymous:
        settings["client.credentials-provider"] = ANONYMOUS
    if settings_by_key["endpoint"] and not _yes(properties.get("s3.force-virtual-addressing")):
        settings["s3.path-style-access"] = "true"
    if not settings_by_key["region"]:  # the SDK must have one; at AWS the bucket's own is then asked for
        settings |= {"client.region": "us-east-1", "s3.cross-region-access-enabled": "true"}
    for name, theirs in _TIMEOUTS.items():
        try:
            settings[theirs] = str(round(float(properties[name]) * 1000))
        except (KeyError, ValueError):
            continue
    return settings


def _adls(host: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Credentials for the account that they are for, and for no other host that a URI may name."""
    name = str(properties.get("adls.account-name", ""))
    kept = {key: str(value) for key, value in properties.items() if key == f"{_SAS}{host}"}
    if name and host in (f"{name}.dfs.core.windows.net", f"{name}.blob.core.windows.net"):
        named = {
            "adls.account-name": "adls.auth.shared-key.account.name",
            "adls.account-key": "adls.auth.shared-key.account.key",
            "adls.sas-token": f"{_SAS}{host}",
            "adls.token": "adls.token",
        }
        kept = {**{theirs: str(properties[ours]) for ours, theirs in named.items() if properties.get(ours)}, **kept}
    if not kept and properties.get("adls.client-secret"):  # Spark would ask by what its environment has
        raise NotSupported("adls.client-secret is not passed on to Spark: give it adls.account-name, and a key of that")
    return kept


def _first(properties: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((str(properties[name]) for name in names if properties.get(name)), None)


def _yes(value: object) -> bool:
    return str(value).lower() == "true"
