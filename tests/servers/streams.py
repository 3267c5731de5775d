"""Kafka Connect with Iceberg's sink, and a stream of Flink, as programs of their own (kafka/pom.xml, flink/pom.xml)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from explorer.errors import EngineError
from explorer.spark_engine.java import find_java, spark_home
from tests.servers.running import maven_jars, running
from tests.support.ports import free_port

CONTROL = "control-iceberg"
"""The topic in which the sink's tasks and their coordinator talk."""
OPENED = ("lang", "lang.invoke", "util", "util.concurrent", "nio", "io", "net", "time")
"""Packages of Java that Flink's serializer looks into."""
QUICK = ("-Xmx700m", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
WAIT_S = 180.0
BROKER = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{control}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{control}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/logs
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
"""
WORKER = """
bootstrap.servers=127.0.0.1:{port}
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
value.converter.schemas.enable=false
offset.storage.file.filename={folder}/offsets
listeners=http://127.0.0.1:{own}
plugin.discovery=only_scan
"""
SINK = """
name=orders-sink
connector.class=org.apache.iceberg.connect.IcebergSinkConnector
tasks.max=1
topics=orders
iceberg.catalog.type=jdbc
iceberg.catalog.uri=jdbc:sqlite:{folder}/catalog.db
iceberg.catalog.jdbc.schema-version=V1
iceberg.catalog.warehouse=file://{folder}/house
iceberg.catalog.io-impl=org.apache.iceberg.hadoop.HadoopFileIO
iceberg.tables=db.orders
iceberg.tables.auto-create-enabled=true
iceberg.control.commit.interval-ms=2000
"""


def java_of(name: str, what: str, folder: Path, *options: str) -> list[str]:
    """Java with the jars of a pom.xml and Spark's client of Hadoop. Skips."""
    try:
        java = find_java()
    except EngineError as error:
        pytest.skip(f"{what}: {error}")
    hadoop = sorted((spark_home() / "jars").glob("hadoop-client-*.jar"))
    path = ":".join([maven_jars(name, what, folder), *map(str, hadoop)])
    return [java.command, *QUICK, *options, "-cp", path]


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something is so.

    Raises:
        AssertionError: It is not so after three minutes.
    """
    until = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until, f"{what}: not after {WAIT_S:.0f} seconds"
        time.sleep(0.2)


@dataclass(frozen=True)
class Kafka:
    """A broker, and the folder of the catalog in which the sink's table is."""

    java: Sequence[str]
    port: int
    folder: Path

    @property
    def table(self) -> Path:
        return self.folder / "house/db/orders"

    def _run(self, program: str, *words: str, lines: Sequence[str] = ()) -> None:
        where = ("--bootstrap-server", f"127.0.0.1:{self.port}")
        command, text = (
            [*self.java, f"org.apache.kafka.tools.{program}", *where, *words],
            "".join(f"{x}\n" for x in lines),
        )
        subprocess.run(command, input=text, text=True, check=True, capture_output=True)

    def create(self, topic: str) -> None:
        self._run("TopicCommand", "--create", "--topic", topic, "--partitions", "1")

    def delete(self, topic: str) -> None:
        self._run("TopicCommand", "--delete", "--topic", topic)

    def produce(self, *messages: str) -> None:
        """Send messages to the topic `orders`."""
        self._run("ConsoleProducer", "--topic", "orders", lines=messages)

    @contextmanager
    def sink(self) -> Iterator[None]:
        """Kafka Connect with the sink runs while it is entered."""
        own = free_port()
        settings = {"port": self.port, "own": own, "folder": self.folder}
        for name, text in (("worker", WORKER), ("sink", SINK)):
            (self.folder / f"{name}.properties").write_text(text.format(**settings))
        files = [f"{self.folder}/{name}.properties" for name in ("worker", "sink")]
        command = [*self.java, "org.apache.kafka.connect.cli.ConnectStandalone", *files]
        with running(command, self.folder / "connect.log", own):
            yield


@contextmanager
def kafka(folder: Path) -> Iterator[Kafka]:
    """A broker of Kafka with the topics of the sink. Skips."""
    java = java_of("kafka", "Kafka", folder)
    port, control = free_port(), free_port()
    settings = folder / "server.properties"
    settings.write_text(BROKER.format(port=port, control=control, folder=folder))
    made = [*java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", str(settings)]
    subprocess.run(made, check=True, capture_output=True)
    with running([*java, "kafka.Kafka", str(settings)], folder / "broker.log", port):
        broker = Kafka(java, port, folder)
        for topic in ("orders", CONTROL):
            broker.create(topic)
        yield broker


def upsert_with_flink(folder: Path, first: int, last: int) -> Path:
    """Have a stream of Flink upsert ids into a table, with a checkpoint each second, until it ends. Skips.

    Args:
        folder: Of the catalog; the table is made if it is not there.
        first: The first id.
        last: The last one.

    Returns:
        The table's folder.
    """
    opens = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in OPENED]
    java = java_of("flink", "Flink", folder, *opens)
    source = Path(__file__).parent / "flink" / "WriteFlink.java"
    ended = subprocess.run([*java, str(source), str(folder), str(first), str(last)], capture_output=True, text=True)
    assert not ended.returncode, ended.stderr[-3000:]
    return folder / "db/t"
