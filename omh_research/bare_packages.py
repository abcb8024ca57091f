"""Packages whose own `__init__` is loaded only when something of it is used.

Job: let submodules of a large library be imported without all that its packages re-export: the
MCP library's client side and its HTTP frameworks are a fifth of a server's start (spec Q13).
Refuses to change what a package offers: the first name asked of it loads it whole. Importers:
mcp_server.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any


class _BarePackage(ModuleType):
    """A package not loaded yet: it finds its submodules, and loads itself when asked for more."""

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        if name.startswith("__") or spec is None or spec.loader is None:
            raise AttributeError(name)
        self.__class__ = ModuleType  # type: ignore[assignment]
        spec.loader.exec_module(self)
        return getattr(self, name)


def leave_bare(*names: str) -> None:
    """Register these packages without loading them, outer ones first.

    A package that is loaded already, or is not there, is left as it is.
    """
    for name in names:
        if name in sys.modules:
            continue
        spec = importlib.util.find_spec(name)
        if spec is None or spec.submodule_search_locations is None:
            return
        package = _BarePackage(name)
        package.__spec__, package.__loader__ = spec, spec.loader
        package.__package__, package.__path__ = name, list(spec.submodule_search_locations)
        package.__file__ = spec.origin
        sys.modules[name] = package
        outer, _, inner = name.rpartition(".")
        if outer:
            setattr(sys.modules[outer], inner, package)
