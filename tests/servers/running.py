"""Servers for tests that are programs of their own: Iceberg's REST catalog, Hive's metastore, versitygw. Each is a
context that gives its address, or skips the test and says what is missing."""

from __future__ import annotations

import base64
import hmac
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import EngineError
from explorer.spark_engine.java import find_java, resolve_jars, spark_home
from explorer.spark_engine.tables import mounts
from explorer.spark_engine.versions import SQLITE
from tests.support.ports import free_port

JARS = "ICEDIVE_REST_JARS"
"""Names a folder with the jars of rest/pom.xml; without it they are looked for in maven's local repository."""
_REST = Path(__file__).parent / "rest"
_QUICK = ("-XX:TieredStopAtLevel=1", "-Xmx384m")
START_S = 60.0


@contextmanager
def running(
    command: Sequence[str], log: Path, port: int, environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    """A program that listens on `port`, or, where that is 0, tells its port in its first line."""
    with log.open("wb") as out, log.with_suffix(".errors").open("wb") as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, env={**os.environ, **(environment or {})})
    try:
        until = time.monotonic() + START_S
        while not (_listens(port) if port else log.read_text().endswith("\n")):
            said = log.with_suffix(".errors").read_text()[-2000:]
            assert process.poll() is None, f"{command[0]} ended: {said}"
            assert time.monotonic() < until, f"{command[0]} does not answer: {said}"
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(10)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def maven_jars(name: str, what: str, folder: Path) -> str:
    """The class path of the pom.xml in the folder `name` beside this file. Skips."""
    if not (maven := shutil.which("mvn")):
        pytest.skip(f"{what}: no mvn on the PATH")
    told, pom = folder / f"{name}-classpath", Path(__file__).parent / name / "pom.xml"
    command = [maven, "-B", "-q", "-o", "-f", str(pom), "dependency:build-classpath"]
    if subprocess.run([*command, f"-Dmdep.outputFile={told}"], capture_output=True).returncode:
        pytest.skip(f"{what}: its jars are not in maven's local repository (make test-servers gets them)")
    return told.read_text().strip()


def _rest_jars(folder: Path) -> str:
    """The class path of Iceberg's REST server. Skips."""
    if jars := os.environ.get(JARS):
        return f"{jars}/*"
    return maven_jars("rest", "Iceberg's REST server", folder)


@contextmanager
def rest_server(folder: Path, properties: Mapping[str, str]) -> Iterator[str]:
    """Iceberg's own REST server over its JDBC catalog in SQLite: the address, below which are /plain, /vending and
    /configured (see LoopbackServer.java)."""
    if not (compiler := shutil.which("javac")):
        pytest.skip("Iceberg's REST server: no javac on the PATH")
    jars = _rest_jars(folder)
    try:
        java = find_java()
        own = resolve_jars(java, (SQLITE,))
    except EngineError as error:
        pytest.skip(f"Iceberg's REST server: {error}")
    path = ":".join([str(folder / "classes"), jars, *map(str, own)])
    source = str(_REST / "LoopbackServer.java")
    subprocess.run([compiler, "--release", "17", "-cp", path, "-d", str(folder / "classes"), source], check=True)
    said = {
        "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri": f"jdbc:sqlite:{folder}/rest.db",
        "jdbc.schema-version": "V1",
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "client.region": "us-east-1",
        "s3.path-style-access": "true",
        **properties,
    }
    command = [java.command, *_QUICK, "-cp", path, "org.apache.iceberg.rest.LoopbackServer"]
    log = folder / "rest.log"
    with running([*command, *(f"{k}={v}" for k, v in said.items())], log, 0):
        yield f"http://127.0.0.1:{log.read_text().strip()}"


@contextmanager
def metastore(folder: Path) -> Iterator[str]:
    """Hive's metastore, of the jars that pyspark brings, over Derby in memory: its address. This version of Hive's
    listens on all interfaces."""
    pytest.importorskip("thrift", reason="the extra `hive` is not installed")
    (folder / "bucket").mkdir()
    port = free_port()
    settings = {
        "hive.async.log.enabled": "false",
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": str(folder / "warehouse"),
        **mounts([("s3://warehouse", str(folder / "bucket"))], "me"),  # it makes tables' folders, wherever
    }
    command = [find_java().command, *_QUICK, f"-Dderby.stream.error.file={folder}/derby.log"]
    command += ["-cp", f"{spark_home()}/jars/*", "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)]
    command += [word for k, v in settings.items() for word in ("-hiveconf", f"{k}={v}")]
    with running(command, folder / "metastore.log", port):
        yield f"thrift://127.0.0.1:{port}"


@contextmanager
def postgres_server() -> Iterator[int]:
    """A PostgreSQL of its own, of the user `explorer` with the password `hush-password`: its port."""
    if not shutil.which("initdb") or not shutil.which("pg_ctl"):
        pytest.skip("PostgreSQL (initdb, pg_ctl) is not on this machine's PATH")
    pytest.importorskip("psycopg2", reason="the extra `postgres` is not installed")
    folder = Path(tempfile.mkdtemp(prefix="icedive-postgres-"))
    options: dict[str, Any] = {}
    if os.getuid() == 0:  # which PostgreSQL refuses
        try:
            options["user"] = pwd.getpwnam("postgres").pw_name
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user `postgres`")
        shutil.chown(folder, options["user"])
    port = free_port()
    secret = folder / "password"
    secret.write_text("hush-password")
    if options:
        shutil.chown(secret, options["user"])

    def run(*command: str) -> None:
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **options)

    data, log = str(folder / "data"), str(folder / "log")
    try:
        run("initdb", "-D", data, "-U", "explorer", "-A", "scram-sha-256", "--pwfile", str(secret), "--no-sync")
        listens = f"-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories={folder}"
        run("pg_ctl", "-D", data, "-o", listens, "-l", log, "-w", "start")
        yield port
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def versitygw(folder: Path, keys: tuple[str, str]) -> Iterator[str]:
    """A real S3 over a folder, with a bucket `warehouse`: its address. It knows these keys only."""
    if not (command := shutil.which("versitygw")):
        pytest.skip("versitygw is not on the PATH (go install github.com/versity/versitygw/cmd/versitygw)")
    (folder / "buckets" / "warehouse").mkdir(parents=True)
    port = free_port()
    arguments = ["--quiet", "--port", f"127.0.0.1:{port}", "posix", str(folder / "buckets")]
    account = {"ROOT_ACCESS_KEY": keys[0], "ROOT_SECRET_KEY": keys[1]}
    with running([command, *arguments], folder / "versitygw.log", port, account):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def fake_gcs(folder: Path, buckets: Path) -> Iterator[str]:
    """A server that speaks as GCS does, with the files below `buckets`: its address. It asks for no token."""
    if not (command := shutil.which("fake-gcs-server")):
        pytest.skip("fake-gcs-server is not on the PATH (go install github.com/fsouza/fake-gcs-server)")
    port = free_port()
    where = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-public-host", f"127.0.0.1:{port}"]
    with running([command, *where, "-backend", "memory", "-data", str(buckets)], folder / "gcs.log", port):
        yield f"http://127.0.0.1:{port}"


AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Azurite's own, of its account `devstoreaccount1`: it is in its documentation."""


@contextmanager
def azurite(folder: Path, container: str) -> Iterator[str]:
    """Microsoft's own emulator of Azure's blob storage, with an empty container: the connection string of its
    account."""
    if not (command := shutil.which("azurite-blob")):
        pytest.skip("azurite-blob is not on the PATH (npm install azurite)")
    port = free_port()
    where = ["--location", str(folder / "azurite"), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    with running([command, "--silent", "--skipApiVersionCheck", *where], folder / "azurite.log", port):
        address = f"http://127.0.0.1:{port}/devstoreaccount1"
        _make_container(address, container)
        yield f"AccountName=devstoreaccount1;AccountKey={AZURITE_KEY};BlobEndpoint={address}"


def _make_container(address: str, container: str) -> None:
    """Signed by the account's key (Azure's "Authorize with Shared Key"): no client of ours can."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    signed = ["PUT", *[""] * 11, *(f"{name}:{value}" for name, value in headers.items())]
    signed += [f"/devstoreaccount1/devstoreaccount1/{container}", "restype:container"]
    digest = hmac.digest(base64.b64decode(AZURITE_KEY), "\n".join(signed).encode(), "sha256")
    headers["Authorization"] = f"SharedKey devstoreaccount1:{base64.b64encode(digest).decode()}"
    url = f"{address}/{container}?restype=container"
    urllib.request.urlopen(urllib.request.Request(url, headers=headers, method="PUT")).close()


@contextmanager
def spark_cluster(folder: Path) -> Iterator[str]:
    """A standalone master of Spark with two workers of one core each, on loopback: its URL. They know nothing of this
    package."""
    java, port = find_java(), free_port()
    opened = ("java.lang", "java.nio", "sun.nio.ch", "java.util", "java.net")
    command = [java.command, *_QUICK, "-XX:+IgnoreUnrecognizedVMOptions"]
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened]
    command += ["-cp", f"{spark_home()}/jars/*"]
    known = {
        "SPARK_HOME": str(spark_home()), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": "",
        "ICEDIVE_CACHE": str(folder / "cache"),
    }  # fmt: skip
    master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    with ExitStack() as processes:
        processes.enter_context(running([*command, *master], folder / "master.log", port, known))
        for name in ("one", "two"):
            own = free_port()
            worker = ["org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--port", str(own)]
            worker += ["--webui-port", "0", "--cores", "1", "--memory", "1g", "--work-dir", str(folder / name)]
            worker.append(f"spark://127.0.0.1:{port}")
            processes.enter_context(running([*command, *worker], folder / f"{name}.log", own, known))
        yield f"spark://127.0.0.1:{port}"
