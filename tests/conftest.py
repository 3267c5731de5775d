"""One sandbox a test run: every scenario, unpacked into a temporary folder by the process that needs it first."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import parts
from tests.support.tiers import is_rest, needs

settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")  # no test depends on the speed of the machine

KEPT = os.environ.get("ICEDIVE_TEST_HOME")
HOME = Path(KEPT or tempfile.mkdtemp(prefix="icedive-test-"))
HOME.mkdir(parents=True, exist_ok=True)
os.environ["ICEDIVE_HOME"] = os.environ["ICEDIVE_TEST_HOME"] = str(HOME)  # the other processes' too
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=256m"
os.environ.setdefault("JDK_JAVA_OPTIONS", SHORT_LIVED)
"""Each Java lives for minutes, with little in memory: what its second compiler (a quarter of the processor) and the
threads of its collector cost never comes back. Without the second compiler it would have too little room for code, and
throw some away to compile it again; and it would collect when it has loaded a few classes."""

os.environ.setdefault("ICEDIVE_SECONDS", "3600")
"""No command is refused for its time: no test depends on the machine's speed."""

gc.disable()
"""Until all is imported: the collector would look through the libraries again and again, for seconds."""

ARTIFACTS = Path(__file__).parent.parent / "test-artifacts"


def pytest_configure(config: pytest.Config) -> None:
    ARTIFACTS.mkdir(exist_ok=True)


def pytest_unconfigure() -> None:
    gc.unfreeze()
    if not KEPT:
        shutil.rmtree(HOME, ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick tests first: a broken parser should not wait for Spark to say so. Then the longest files, of which each is
    one process's: the last ones to be given out should be short. Where there are several processes, one builds the
    tables meanwhile. Only those of the part that ICEDIVE_PART names."""
    names = set(parts.chosen([item.nodeid for item in items]))
    items[:] = [item for item in items if item.nodeid in names]
    for item in items:
        for marker in needs(item.path, getattr(item, "fixturenames", ())):
            item.add_marker(marker)
        if is_rest(item.path):
            item.add_marker("rest")
        if item.get_closest_marker("rest") and item.get_closest_marker("unit"):
            item.add_marker("slow")
    order = ("unit/", "properties/", "spark/test_lab", "browser/", "security/", "notebooks/", "spark/", "servers/")
    if "PYTEST_XDIST_WORKER" in os.environ:
        alone = ("unit/", "properties/", "security/test_files", "servers/test_stores")  # which need no tables
        order = ("spark/test_lab", *alone, "spark/test_jobs", "spark/test_race", *order[3:])
    items.sort(key=lambda item: next((i for i, name in enumerate(order) if f"/tests/{name}" in str(item.path)), 9))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and parts.VARIABLE in os.environ:
        session.exitstatus = pytest.ExitCode.OK  # a part of a short file may have none


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a table of three appends, to be looked at: no test changes it (`table` is for that)."""
    from tests.support.small_tables import make_table

    folder = make_table(tmp_path_factory.mktemp("whole"))
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    yield folder
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files


@pytest.fixture
def table(whole: Path) -> Iterator[Path]:
    """`whole`, to be changed or removed; as it was afterwards."""
    kept = whole.parent / "kept"
    shutil.copytree(whole, kept)
    yield whole
    shutil.rmtree(whole, ignore_errors=True)
    shutil.move(kept, whole)


@pytest.fixture(scope="session")
def engine() -> Iterator[object]:
    from explorer.spark_engine.spark import SparkEngine

    spark = SparkEngine()
    spark.start()
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def sandbox() -> Path:
    """Unpacks all scenarios, once; returns the sandbox folder."""
    from explorer.lab.scenarios import missing, unpack_all

    with (HOME / "building").open("w") as lock:  # one of several processes; the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        if todo := missing():
            unpack_all(todo)
    return HOME / "sandbox"


@pytest.fixture(autouse=True)
def no_limit_stays() -> Iterator[None]:
    """What a test lets this process open binds none of the tests after it."""
    from explorer.serving import places

    before = dict(places._allowed)
    yield
    places._allowed.clear()
    places._allowed.update(before)


@pytest.fixture(autouse=True)
def no_spark_by_the_way(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that needs no Spark starts none: it would stay for the tests after it, of other files too."""
    before = runs_spark()
    yield
    if request.node.get_closest_marker("unit") and not before:
        assert not runs_spark(), "Spark was started here, or in the background by a test before this one"


def runs_spark() -> bool:
    contexts = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return contexts is not None and contexts._active_spark_context is not None


@pytest.fixture
def artifacts() -> Path:
    """Where tests leave screenshots."""
    return ARTIFACTS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, which nobody else may read."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("ICEDIVE_HOME", str(folder))
    return folder
