"""omh_research: a research engine that survives anything.

Job: name the version and the public API, lazily, so that a command which needs none of it
starts as fast as the interpreter does. Refuses to do work at import. Importers: everybody.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Engine", "OmhError", "Settings", "__version__"]

if TYPE_CHECKING:
    from omh_research.api import Engine
    from omh_research.errors import OmhError
    from omh_research.settings import Settings

_HOMES = {"Engine": "api", "OmhError": "errors", "Settings": "settings"}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"omh_research.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'omh_research' has no attribute {name!r}")
