"""Where Spark runs: what the URL of its master asks for, seen before Java is asked, which would try for a minute."""

from __future__ import annotations

import os
import re
import socket
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from explorer.errors import EngineError
from explorer.storage.loopback import is_loopback

VARIABLE = "ICEDIVE_SPARK_MASTER"
SECONDS = 10.0
"""In which one of a master's addresses must answer."""
YARN_CONF = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_IMAGES = ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image")
_MANAGER = re.compile(r"yarn\.resourcemanager\.(address|hostname)(\.\w+)?")


def is_local(master: str) -> bool:
    """Whether a master's workers are of this process: `local`, `local[4]`, `local[*]`."""
    return master == "local" or master.startswith("local[")


def elsewhere(master: str) -> bool:
    """Whether a master's workers may be on other machines, which have other folders: not those of this process, nor
    those of one that listens to this machine alone."""
    if is_local(master):
        return False
    kind, _, hosts = master.partition("://")
    return kind != "spark" or not all(is_loopback(host.rpartition(":")[0]) for host in hosts.split(","))


def configuration_folders() -> list[str]:
    """The folders that Hadoop's configuration is in, as the environment names them."""
    return [folder for name in YARN_CONF if (folder := os.environ.get(name))]


def driver_address(settings: Mapping[str, str]) -> str | None:
    """The address of this machine as the master sees it, so that its workers can reach us; None where there is nothing
    to ask (a local master, YARN by names that only Hadoop resolves). Raises EngineError when no master answers, or its
    settings lack something."""
    master = settings["spark.master"]
    kind, _, rest = master.partition("://")
    if master.startswith("local"):
        return None
    if kind == "sc":
        raise EngineError(
            f"{master} is Spark Connect, which has no py4j, and rows, SQL, commits and manifests go through py4j: set "
            f"{VARIABLE} to local[*], spark://host:7077, yarn or k8s://host:443 instead"
        )
    if kind == "spark" and rest:
        return _own_address(master, [(address, 7077) for address in rest.split(",")])
    if master == "yarn":
        return _yarn()
    if kind == "k8s" and rest:
        if not any(settings.get(name) for name in _IMAGES):
            raise EngineError(f"{master}: {_IMAGES[0]} must name an image with Spark and Python, in spark.json")
        scheme, separator, address = rest.partition("://")
        return _own_address(master, [(address if separator else rest, 80 if scheme == "http" else 443)])
    raise EngineError(
        f"{master!r} is no master of Spark: {VARIABLE} may be local[*], local[4], spark://host:7077, yarn or "
        "k8s://host:443"
    )


def _yarn() -> str | None:
    folders = configuration_folders()
    if not folders:
        raise EngineError(
            f"yarn: neither {YARN_CONF[0]} nor {YARN_CONF[1]} is set; one must name the folder with yarn-site.xml, "
            "which says where YARN is"
        )
    files = [Path(folder, "yarn-site.xml") for folder in folders]
    file = next((f for f in files if f.is_file()), None)
    if file is None:
        raise EngineError(f"yarn: there is no {' nor '.join(map(str, files))}, which would say where YARN is")
    try:
        entries = [(p.findtext("name", ""), p.findtext("value", "")) for p in ElementTree.parse(file).iter("property")]
    except (OSError, ElementTree.ParseError) as error:
        raise EngineError(f"{file}: {error}") from error
    named = [(match, value.strip()) for name, value in entries if (match := _MANAGER.fullmatch(name.strip()))]
    whole = [value for match, value in named if match[1] == "address"]
    addresses = [v for v in whole or [value for _, value in named] if v and "${" not in v]
    if not named:  # then it is on this machine, and Hadoop would ask there for minutes
        return _own_address(f"yarn: {file} names none", [("127.0.0.1", 8032)])
    return _own_address("yarn", [(address, 8032) for address in addresses]) if addresses else None


def _own_address(master: str, addresses: list[tuple[str, int]]) -> str:
    """Our own address in a connection to the first of these that answers. Raises EngineError."""
    tried = []
    for address, usual in addresses:
        name = address
        try:
            where = urlsplit(f"//{address}")
            host, port = where.hostname or "", where.port or usual
            name = f"{host}:{port}"
            with socket.create_connection((host, port), SECONDS / len(addresses)) as connection:
                return str(connection.getsockname()[0])
        except (OSError, ValueError) as error:
            tried.append(f"{name} ({getattr(error, 'strerror', None) or error})")
    raise EngineError(
        f"{master}: no master of Spark answers at {', '.join(tried)}; {VARIABLE} may name another, or local[*]"
    )
