"""Numbers given as options: finite, in their range. Refuses `nan` and `inf`. Importers: cli."""

from __future__ import annotations

import math
from typing import Any

import click


class Finite(click.FloatRange):
    """A float in a range that is a number: `nan` passes every comparison, `inf` every bound."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; fails as a usage error."""
        try:
            found = float(value)
        except (ValueError, OverflowError):
            self.fail(f"{str(value)[:60]!r} is not a number.", param, ctx)
        if not math.isfinite(found):
            self.fail(f"{str(value)[:60]!r} is not a finite number.", param, ctx)
        return float(super().convert(value, param, ctx))

    def _describe_range(self) -> str:
        """Say the range in the help; click would say `x<=None` of one without bounds."""
        return "" if self.min is None and self.max is None else super()._describe_range()
