"""What model calls cost: a dated table, overridable, honest about what it does not know.

Job: turn token counts of a named model into US dollars (spec O5). Refuses to guess: a model that
is not in the table has the price None, never 0. Importers: delegates, cli, api.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from omh_research.errors import UsageError
from omh_research.lazy_re import lazy_re

PRICES_VARIABLE = "OMH_PRICES"
PER = 1_000_000

# What providers append to a model's name: a date, or "latest".
_SUFFIX = lazy_re(r"(?:[-@:](?:latest|\d{4}-?\d{2}-?\d{2}))+$")


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens. From `long_from` input tokens on, the `long_` prices hold
    for the whole request."""

    input: float
    output: float
    cached: float | None = None
    long_from: int | None = None
    long_input: float | None = None
    long_output: float | None = None


class PriceTable(Struct, frozen=True, forbid_unknown_fields=True):
    """Prices by model name, and the day (ISO 8601) they were collected."""

    as_of: str
    models: dict[str, Price] = {}

    def find(self, model: str) -> Price | None:
        """Return the price of `model`, with or without a provider's prefix and a date suffix."""
        name = model.strip().casefold().rpartition("/")[2]
        for candidate in (name, _SUFFIX.sub("", name), f"{_SUFFIX.sub('', name)}-latest"):
            if candidate in self.models:
                return self.models[candidate]
        return None

    def cost(
        self, model: str, input_tokens: int, output_tokens: int, *, cached_tokens: int = 0
    ) -> float | None:
        """Return what one request cost in US dollars, or None if the model's price is unknown.

        `input_tokens` includes the `cached_tokens` read from the provider's cache.
        """
        price = self.find(model)
        if price is None:
            return None
        is_long = price.long_from is not None and input_tokens >= price.long_from
        read = price.long_input if is_long and price.long_input is not None else price.input
        written = price.long_output if is_long and price.long_output is not None else price.output
        cached = min(max(cached_tokens, 0), input_tokens) if price.cached is not None else 0
        dollars = (input_tokens - cached) * read + output_tokens * written
        if cached and price.cached is not None:
            dollars += cached * price.cached * (read / price.input if price.input else 1)
        return dollars / PER


def load_prices(override: str = "") -> PriceTable:
    """Return the packaged table, with the models of the file `override` added and replacing.

    Raises `UsageError` if that file is no price table.
    """
    packaged = _read(files("omh_research.llm").joinpath("prices.yaml").read_bytes(), "prices.yaml")
    if not override:
        return packaged
    try:
        own = _read(Path(override).read_bytes(), override)
    except OSError as error:
        raise UsageError(f"The price file {override} cannot be read: {error.strerror}.") from error
    as_of = f"{packaged.as_of}, own prices of {own.as_of}"
    return PriceTable(as_of=as_of, models={**packaged.models, **own.models})


def _read(data: bytes, name: str) -> PriceTable:
    try:
        table = msgspec.yaml.decode(data, type=PriceTable)
    except (msgspec.DecodeError, ValueError) as error:
        raise UsageError(f"The price file {name} is wrong: {error}.") from error
    models = {key.casefold(): value for key, value in table.models.items()}
    for key, price in models.items():
        numbers = [price.input, price.output, price.cached, price.long_input, price.long_output]
        if any(number is not None and not 0 <= number < 1e6 for number in numbers):
            raise UsageError(f"The price file {name} has an impossible price for {key}.")
    return PriceTable(as_of=table.as_of, models=models)
