"""Which URLs the door opens for, decided before any socket.

Job: turn a URL into one unambiguous target (scheme, host, port) or refuse it with the rule that
refused it; apply the address rules to what a name resolved to. Refuses to resolve or connect.
Importers: transport.

Rules (spec D7, 81-reliability section 7): http and https only; no credentials, backslash, control
or blank characters; hosts are names, dotted quads or bracketed IPv6, nothing a second URL parser
might read differently; well-known ports of other services are refused. `OMH_ALLOW_HOSTS`
(`host:port,…`) opens a host, as written in the URL, whose address or port would be refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from msgspec import Struct

from omh_research.errors import TransportError
from omh_research.lazy_re import lazy_re
from omh_research.network.addresses import IPAddress, is_public, parse_address
from omh_research.network.redaction import redact_url

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARS = 8192

# WHATWG Fetch "bad ports", then databases, queues, remote shells and cluster services.
REFUSED_PORTS = frozenset(
    {
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
        102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389,
        427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
        989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665,
        6666, 6667, 6668, 6669, 6679, 6697, 10080,
        88, 162, 445, 464, 500, 543, 544, 873, 1099, 1433, 1434, 1521, 1883, 2181, 2375, 2376,
        2379, 2380, 3268, 3269, 3306, 3389, 4369, 5432, 5671, 5672, 5900, 5901, 5984, 5985, 5986,
        6379, 6380, 6443, 7000, 7001, 9042, 9092, 9160, 9200, 9300, 10250, 10255, 11211, 26379,
        27017, 27018, 27019, 50000,
    }
)  # fmt: skip

_ODD = lazy_re(r"[\x00-\x20\x7f-\x9f\\]")
_NETLOC = lazy_re(r"(?:\[[^\[\]]*\]|[^\[\]:]*)(?::[0-9]{0,5})?")
_NAME = lazy_re(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMBERISH = lazy_re(r"(?:0x[0-9a-f]*|[0-9]+)")
_SAFE_PATH = "!$&'()*+,;=:@/%-._~"
_SAFE_QUERY = _SAFE_PATH + "?[]"


class Target(Struct, frozen=True):
    """A URL taken apart once; every later step uses these parts and no other parser's.

    `host` is lower-case ASCII without brackets or a final dot, `path` starts with `/` and holds
    the query.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """`host:port`, IPv6 in brackets: the key of allow-lists and rates."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The canonical URL, without the scheme's own port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def refuse(url: str, rule: str) -> TransportError:
    """Return the error that says which rule refused `url` (its secrets blanked)."""
    return TransportError(f"Refused {redact_url(url)}: {rule}.", state="refused")


def parse_target(url: str) -> Target:
    """Return the one target `url` can mean; raises `TransportError` (state `refused`)."""
    if len(url) > MAX_URL_CHARS:
        raise refuse(url[:100], f"the URL is longer than {MAX_URL_CHARS} characters")
    odd = _ODD.search(url)
    if odd:
        raise refuse(url, f"the URL holds the character {odd.group()!a}")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise refuse(url, "the URL cannot be parsed") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise refuse(url, "only http and https are fetched")
    if "@" in parts.netloc:
        raise refuse(url, "credentials in a URL are not accepted")
    if not parts.hostname:
        raise refuse(url, "the URL names no host")
    if not _NETLOC.fullmatch(parts.netloc):
        raise refuse(url, "the URL's host and port cannot be parsed")
    host = _plain_host(url, parts.netloc, parts.hostname)
    if port == 0 or parts.netloc.endswith(":"):
        raise refuse(url, "the port is missing or 0")
    path = quote(parts.path or "/", safe=_SAFE_PATH)
    if parts.query:
        path += "?" + quote(parts.query, safe=_SAFE_QUERY)
    return Target(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], path)


def _plain_host(url: str, netloc: str, hostname: str) -> str:
    """Return the host in its one canonical ASCII form, or refuse it."""
    if netloc.startswith("["):
        address = parse_address(hostname)
        if address is None or address.version != 6 or "%" in hostname:
            raise refuse(url, "the bracketed host is no IPv6 address")
        return str(address)
    host = _ascii_host(url, hostname).removesuffix(".")
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise refuse(url, "the host is no valid name")
    # Programs disagree on 127.1, 0x7f.1 or 2130706433; only the dotted quad is unambiguous.
    if _NUMBERISH.fullmatch(host.rpartition(".")[2]) and parse_address(host) is None:
        raise refuse(url, "the host is a number but no plain IPv4 address")
    return host


def _ascii_host(url: str, hostname: str) -> str:
    if hostname.isascii():
        return hostname.lower()
    import idna

    try:
        return idna.encode(hostname, uts46=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        raise refuse(url, "the host is no valid international name") from None


def check_port(target: Target, allowed: frozenset[str]) -> None:
    """Refuse a port that belongs to another service, unless the host is allowed by name."""
    if target.authority in allowed:
        return
    if target.port in REFUSED_PORTS:
        raise refuse(target.url, f"port {target.port} belongs to a service that is not the web")


def check_addresses(
    target: Target, addresses: Sequence[str], allowed: frozenset[str]
) -> list[IPAddress]:
    """Return the parsed addresses; refuse the target when *any* of them is not public.

    One bad answer among good ones is how a rebinding server gets in, so one is enough.
    """
    parsed: list[IPAddress] = []
    for text in addresses:
        address = parse_address(text)
        if address is None:
            raise refuse(target.url, "the name resolved to something that is no address")
        if target.authority not in allowed and not is_public(address):
            hint = f"OMH_ALLOW_HOSTS={target.authority} opens it"
            raise refuse(target.url, f"{address} is not a public address ({hint})")
        parsed.append(address)
    return parsed


def parse_allowed(text: str) -> frozenset[str]:
    """Return the `host:port` entries of `OMH_ALLOW_HOSTS`, lower-case; entries without a port
    stand for both web ports."""
    entries: set[str] = set()
    for raw in text.split(","):
        entry = raw.strip().lower()
        if not entry:
            continue
        host, separator, port = entry.rpartition(":")
        if separator and port.isdigit() and (":" not in host or host.endswith("]")):
            entries.add(f"{host}:{int(port)}")
        else:
            entries.update({f"{entry}:80", f"{entry}:443"})
    return frozenset(entries)


def check_host_list(target: Target, hosts: frozenset[str] | None) -> None:
    """Refuse a target outside a caller's fixed host list (`host` or `host:port`, spec T7)."""
    if hosts is None or target.host in hosts or target.authority in hosts:
        return
    raise refuse(target.url, "the host is not on this provider's list")
