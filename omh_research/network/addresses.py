"""Which network addresses a fetch may connect to.

Job: answer `is_public(address)` by rule, never by the spelling of a host. Refuses to resolve
names or open sockets (spec D7, 81-reliability section 7). Importers: network, transport.

`ipaddress.is_global` alone is not enough: on 3.11 it calls NAT64, 6to4 and IPv4-compatible forms
of loopback global, and 192.0.0.8 and multicast too. So: a list of our own, `is_global` on top,
and every address that carries another one inside is unwrapped and judged by what is inside.
"""

from __future__ import annotations

import functools
import ipaddress

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_REFUSED_V4 = (
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carrier-grade NAT; also a cloud's metadata address (100.100.100.200)
    "127.0.0.0/8",  # loopback
    "168.63.129.16/32",  # a cloud's host agent, although the address is public
    "169.254.0.0/16",  # link-local, cloud metadata
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, broadcast
)
# IPv6 is open only inside 2000::/3 (global unicast); these are the exceptions within it.
_OPEN_V6 = "2000::/3"
_REFUSED_V6 = (
    "2001::/23",  # protocol assignments: Teredo (unwrapped before), ORCHID, benchmarks
    "2001:db8::/32",  # documentation
    "3fff::/20",  # documentation
    "2620:4f:8000::/48",  # AS112 sink
)
_WRAPPED_V4_IN_LOW_BITS = (
    "::/96",  # IPv4-compatible
    "::ffff:0:0/96",  # IPv4-mapped
    "::ffff:0:0:0/96",  # IPv4-translated
    "64:ff9b::/96",  # NAT64
)
_SIX_TO_FOUR = "2002::/16"
_TEREDO = "2001::/32"
_ISATAP_MARKS = (0x00005EFE, 0x02005EFE)


@functools.cache
def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(text)


def parse_address(text: str) -> IPAddress | None:
    """Return the address written canonically in `text`, or None when it is no address.

    A zone (`fe80::1%eth0`) is dropped: it names an interface, not another address.
    """
    try:
        return ipaddress.ip_address(text.split("%", 1)[0])
    except ValueError:
        return None


def is_public(address: IPAddress) -> bool:
    """Return whether a fetch may connect to `address`: every address inside it is public."""
    inner = _unwrap(address)
    if inner:
        return all(is_public(part) for part in inner)
    if isinstance(address, ipaddress.IPv4Address):
        refused: tuple[str, ...] = _REFUSED_V4
    elif address in _network(_OPEN_V6):
        refused = _REFUSED_V6
    else:
        return False
    if any(address in _network(text) for text in refused):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified
    )


def _unwrap(address: IPAddress) -> list[IPAddress]:
    """Return the IPv4 addresses that an IPv6 address carries; [] when it carries none."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    value = int(address)
    low = ipaddress.IPv4Address(value & 0xFFFFFFFF)
    if any(address in _network(text) for text in _WRAPPED_V4_IN_LOW_BITS):
        return [low]
    if address in _network(_SIX_TO_FOUR):
        return [ipaddress.IPv4Address((value >> 80) & 0xFFFFFFFF)]
    if address in _network(_TEREDO):
        server = ipaddress.IPv4Address((value >> 64) & 0xFFFFFFFF)
        client = ipaddress.IPv4Address(~value & 0xFFFFFFFF)
        return [server, client]
    if (value >> 32) & 0xFFFFFFFF in _ISATAP_MARKS:
        return [low]
    return []
