"""From a host name to addresses, within a time limit.

Job: ask the system's resolver once and return every address it names. Refuses to choose or judge.
Importers: transport.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

from omh_research.errors import TransportError
from omh_research.network.addresses import parse_address

Resolver = Callable[[str, int], list[str]]
_MAX_ADDRESSES = 64


def system_resolver(host: str, port: int) -> list[str]:
    """Return all addresses of `host`, as text, in the resolver's order. Raises `OSError`."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


def resolve(resolver: Resolver, host: str, port: int, timeout_s: float) -> list[str]:
    """Return the addresses of `host`; an address stands for itself.

    Raises `TransportError`: `timeout` when the resolver does not answer in time (its thread is
    left to end by itself, the system's resolver cannot be interrupted), `error` when the name
    is unknown.
    """
    if parse_address(host) is not None:
        return [host]
    answers: list[str] = []
    failures: list[Exception] = []

    def ask() -> None:
        try:
            answers.extend(resolver(host, port))
        except (OSError, UnicodeError) as error:
            failures.append(error)

    thread = threading.Thread(target=ask, name="resolve", daemon=True)
    thread.start()
    thread.join(max(timeout_s, 0.0))
    if thread.is_alive():
        raise TransportError(f"The name {host} was not resolved in time.", state="timeout")
    if failures or not answers:
        raise TransportError(f"The name {host} does not resolve.")
    return answers[:_MAX_ADDRESSES]
