"""Waiting, retrying and being polite: Retry-After, exhaustion, shared rates (T7, T7b, D7)."""

from __future__ import annotations

import datetime
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.errors import TransportError
from omh_research.network.backoff import MAX_ATTEMPTS, next_wait_s, parse_retry_after
from omh_research.network.exhaustion import exhausted_until, mark_exhausted
from omh_research.network.pacing import Pace
from omh_research.network.state_folder import read_fact, state_file, state_home, write_fact
from omh_research.transport import Transport

from .hostile import reply

NOW = datetime.datetime(2026, 11, 30, 12, 0, tzinfo=datetime.UTC)


def _in_turn(*scripts: Any) -> Any:
    """Return a script that answers each request with the next of `scripts`, the last for ever."""
    left = list(scripts)

    def script(connection: Any, request: bytes) -> None:
        (left.pop(0) if len(left) > 1 else left[0])(connection, request)

    return script


class _Sleeper:
    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.mark.parametrize("status", ["429 Too Many", "500 Oops", "502 Bad", "503 Busy", "504 Late"])
def test_passing_fault_is_asked_again(status: str, servers: Any) -> None:
    server, sleeper = servers.start(_in_turn(reply(status=status), reply(b"good"))), _Sleeper()
    response = Transport(environ=server.environ(), sleep=sleeper).get(server.url())
    assert (response.body, len(server.requests), len(sleeper.slept)) == (b"good", 2, 1)


@pytest.mark.parametrize(
    "status", ["400 Bad", "401 No", "403 No", "404 None", "410 Gone", "501 No"]
)
def test_lasting_fault_is_returned_at_once(status: str, servers: Any) -> None:
    server = servers.start(reply(b"why", status=status))
    response = Transport(environ=server.environ()).get(server.url())
    assert (response.status, response.body, len(server.requests)) == (int(status[:3]), b"why", 1)


def test_retry_after_within_the_time_is_honoured(servers: Any) -> None:
    busy = reply(status="429 Slow", headers="Retry-After: 7\r\n")
    server, sleeper = servers.start(_in_turn(busy, reply(b"good"))), _Sleeper()
    assert Transport(environ=server.environ(), sleep=sleeper).get(server.url()).status == 200
    assert sleeper.slept == [7.0]


@pytest.mark.parametrize("value", ["54000", "86400", "Wed, 02 Dec 2099 07:28:00 GMT", "31"])
def test_wait_longer_than_the_time_is_never_slept(value: str, servers: Any) -> None:
    """A Retry-After of 15 hours never sleeps (issue 3.3)."""
    busy = reply(b"later", status="429 Slow", headers=f"Retry-After: {value}\r\n")
    server, sleeper = servers.start(busy), _Sleeper()
    response = Transport(environ=server.environ(), sleep=sleeper).get(server.url(), timeout_s=30)
    assert (response.status, sleeper.slept, len(server.requests)) == (429, [], 1)


def test_attempts_end(servers: Any) -> None:
    server, sleeper = servers.start(reply(status="503 Busy")), _Sleeper()
    assert Transport(environ=server.environ(), sleep=sleeper).get(server.url()).status == 503
    assert (len(server.requests), len(sleeper.slept)) == (MAX_ATTEMPTS, MAX_ATTEMPTS - 1)


def test_dead_port_is_tried_again_and_then_named() -> None:
    sleeper = _Sleeper()
    with socket.socket() as reserved:  # bound, never listening: no other test can take the port
        reserved.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{reserved.getsockname()[1]}"
        transport = Transport(environ={"OMH_ALLOW_HOSTS": host}, sleep=sleeper)
        with pytest.raises(TransportError, match="No connection") as caught:
            transport.get(f"http://{host}/")
    assert (caught.value.state, len(sleeper.slept)) == ("error", MAX_ATTEMPTS - 1)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 5 ", 5.0),
        ("1.5", 1.5),
        ("Mon, 30 Nov 2026 12:01:00 GMT", 60.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("999999999999", 366 * 24 * 3600.0),
        ("-1", None),
        ("soon", None),
        ("", None),
        ("1e9", None),
        ("\u0661\u0662", None),
        ("9" * 400, None),
    ],
)
def test_retry_after_forms(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW) == seconds


@given(st.text(max_size=60))
def test_any_retry_after_is_a_bounded_wait_or_none(value: str) -> None:
    wait = parse_retry_after(value, NOW)
    assert wait is None or 0.0 <= wait <= 366 * 24 * 3600.0


@given(st.integers(1, 5), st.none() | st.floats(0, 1e6), st.floats(0, 60))
def test_no_wait_outlasts_the_time_left(attempt: int, asked: float | None, left: float) -> None:
    wait = next_wait_s(attempt, asked, left)
    assert wait is None or 0 < wait < left


def test_exhaustion_is_kept_across_processes_until_it_is_over() -> None:
    """T7b: keyed by base URL, in the user's state folder."""
    base = "https://api.example.org"
    until = mark_exhausted(base, 54_000, "HTTP 429", clock=lambda: NOW)
    assert until == "2026-12-01T03:00:00Z"
    program = (
        "import datetime\n"
        "from omh_research.network.exhaustion import exhausted_until\n"
        "now = datetime.datetime(2026, 12, 1, 2, 59, tzinfo=datetime.UTC)\n"
        f"print(exhausted_until({base!r}, clock=lambda: now))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert run.stdout.strip() == until
    later = NOW + datetime.timedelta(hours=15, seconds=1)
    assert exhausted_until(base, clock=lambda: later) is None
    assert exhausted_until("https://other.example.org", clock=lambda: NOW) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"until": 5}', b'{"until": "soon"}', b"\xff\xfe", b"[" * 5000,
     b'{"until": "2026-12-01T03:00:00"}', b'{"until": "2999-01-01T00:00:00Z"}', b"x" * 100_000],
)  # fmt: skip
def test_damaged_mark_counts_as_none(content: bytes) -> None:
    path = state_file("exhausted", "https://api.example.org")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert exhausted_until("https://api.example.org", clock=lambda: NOW) is None


def test_state_folder_follows_the_platform(tmp_path: Path) -> None:
    assert state_home({"OMH_STATE_HOME": str(tmp_path)}) == tmp_path
    if sys.platform == "linux":
        assert state_home({"XDG_STATE_HOME": "/x"}) == Path("/x/omh-research")
        assert state_home({}) == Path.home() / ".local" / "state" / "omh-research"


def test_facts_replace_each_other_whole(tmp_path: Path) -> None:
    path = tmp_path / "a" / "fact.json"
    assert write_fact(path, {"n": 1}) and write_fact(path, {"n": 2})
    assert read_fact(path) == {"n": 2}
    assert [each.name for each in path.parent.iterdir()] == ["fact.json"]


def test_unwritable_state_folder_stops_no_fetch(
    servers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    monkeypatch.setenv("OMH_STATE_HOME", str(blocked / "state"))
    server = servers.start(reply(b"good"))
    transport = Transport(environ=server.environ(), intervals_s={"127.0.0.1": 0.01})
    assert transport.get(server.url()).body == b"good"
    assert mark_exhausted("https://api.example.org", 60, "HTTP 429")


def test_slots_of_one_host_lie_apart_and_hosts_do_not_wait_for_each_other() -> None:
    pace = Pace({"a.test": 10.0}, 5.0)
    waits = [pace.take_slot("a.test", 100.0) for _ in range(3)]
    assert waits == [
        pytest.approx(0, abs=0.5),
        pytest.approx(10, abs=0.5),
        pytest.approx(20, abs=0.5),
    ]
    assert pace.take_slot("b.test", 100.0) == 0.0
    assert pace.take_slot("a.test", 1.0) is None
    assert pace.take_slot("a.test", 100.0) == pytest.approx(30, abs=0.5)


def test_rate_is_shared_between_processes() -> None:
    """T7b: limits are shared between processes on one machine."""
    program = (
        "from omh_research.network.pacing import Pace\n"
        "pace = Pace({}, 100.0)\n"
        "for _ in range(5): print(pace.take_slot('h.test', 1e9))\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    waits = sorted(float(line) for run in runs for line in run.communicate(timeout=60)[0].split())
    assert [round(wait / 100) for wait in waits] == list(range(15))


def test_slot_after_a_clock_that_was_set_back_is_ignored() -> None:
    write_fact(state_file("pace", "h.test"), {"next": 1e12})
    assert Pace({}, 1.0).take_slot("h.test", 5.0) == 0.0


def test_requests_wait_for_their_turn(servers: Any) -> None:
    server, sleeper = servers.start(reply(b"ok")), _Sleeper()
    transport = Transport(environ=server.environ(), intervals_s={"127.0.0.1": 5.0}, sleep=sleeper)
    for _ in range(3):
        transport.get(server.url())
    assert [round(wait) for wait in sleeper.slept] == [5, 10]
    with pytest.raises(TransportError, match="polite rate") as caught:
        transport.get(server.url(), timeout_s=1.0)
    assert caught.value.state == "timeout"
