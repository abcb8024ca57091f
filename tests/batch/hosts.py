"""Machines for tests: network, host name and mounts of their own on one kernel, one shared folder.

A host is a process that holds its namespaces; commands are run inside with `nsenter`. The folder of
locks is a file system of its own on each, so that kernel locks end at the machine, as they do on
many network folders. Needs root and Linux.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.runs import child_environment

TOOLS = ("ip", "unshare", "nsenter", "mount")


def why_not() -> str:
    """Return why there can be no hosts here, or ""."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    tried = subprocess.run(
        ["unshare", "--net", "--uts", "--mount", "true"], capture_output=True, check=False
    )
    return "" if tried.returncode == 0 else "namespaces are not allowed here"


class Host:
    """One machine. `root` is the shared project root; its locks folder is this machine's own."""

    def __init__(self, name: str, root: Path) -> None:
        self.name = name
        self.processes: list[subprocess.Popen[bytes]] = []
        locks = root / ".omh" / "state" / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        script = (
            f"hostname {name} && ip link set lo up && mount -t tmpfs none '{locks}' && "
            "echo ready && exec sleep 600"
        )
        self._holder = subprocess.Popen(
            ["unshare", "--net", "--uts", "--mount", "sh", "-c", script], stdout=subprocess.PIPE
        )
        assert self._holder.stdout is not None and self._holder.stdout.readline() == b"ready\n"
        self.pid = self._holder.pid

    def command(self, *args: str) -> list[str]:
        """Return the command line that runs `args` on this host."""
        return ["nsenter", "-t", str(self.pid), "-n", "-u", "-m", *args]

    def spawn(self, *args: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a program on this host."""
        process = subprocess.Popen(
            self.command(*args), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=child_environment(**environment), start_new_session=True,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def serve(self, log: Path, *args: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a program that runs until the end; what it says goes to a file."""
        with log.open("ab") as stream:
            process = subprocess.Popen(
                self.command(*args), stdout=stream, stderr=stream, start_new_session=True,
                env=child_environment(**environment),
            )  # fmt: skip
        self.processes.append(process)
        return process

    def run(self, *args: str) -> subprocess.CompletedProcess[bytes]:
        """Run a program on this host to its end."""
        return subprocess.run(
            self.command(*args), capture_output=True, env=child_environment(), timeout=120,
            check=False,
        )  # fmt: skip

    def close(self) -> None:
        """End everything; the namespaces and the cable go with it."""
        for process in [*self.processes, self._holder]:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.communicate()


def connect(one: Host, other: Host) -> tuple[str, str]:
    """Lay a cable between two hosts; return their addresses."""
    addresses = ("10.77.0.1", "10.77.0.2")
    names = [f"omh{host.pid}" for host in (one, other)]
    ip("link", "add", names[0], "netns", str(one.pid), "type", "veth",
       "peer", names[1], "netns", str(other.pid))  # fmt: skip
    for host, name, address in zip((one, other), names, addresses, strict=True):
        for words in (("addr", "add", f"{address}/24", "dev", name), ("link", "set", name, "up")):
            done = host.run("ip", *words)
            assert done.returncode == 0, done.stderr
    return addresses


def cable(host: Host, state: str) -> None:
    """Pull a host's cable (`down`), or plug it in again (`up`)."""
    done = host.run("ip", "link", "set", f"omh{host.pid}", state)
    assert done.returncode == 0, done.stderr


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def wait_until(condition: object, seconds: float, what: str) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"still not: {what}"
        time.sleep(0.05)
