"""What a whole batch will cost, before it starts: the sum of its topics' ranges (spec O5).

Job: one estimate a distinct set of options, times its topics. Refuses to guess a price: one unknown
price makes the sum unknown. Importers: cli.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from omh_research.batch.topics import Topic
from omh_research.estimate import Estimate, Range, estimate

_SUMMED = ("tasks", "model_calls", "fetches", "votes", "tokens")


def forecast(topics: tuple[Topic, ...], max_cost_usd: float | None) -> Estimate:
    """Return the ranges of all topics together; the batch's own budget lowers the most."""
    kinds: Counter[bytes] = Counter()
    samples: dict[bytes, Topic] = {}
    for topic in topics:
        if not topic.problem:
            key = msgspec.json.encode((topic.delegate, topic.options), order="sorted")
            kinds[key] += 1
            samples[key] = topic
    sums = dict.fromkeys(_SUMMED, Range(0, 0))
    cost: Range | None = Range(0, 0)
    as_of = ""
    for key, count in kinds.items():
        found = estimate(samples[key].options, samples[key].delegate)
        sums = {name: _add(sums[name], getattr(found, name), count) for name in _SUMMED}
        unknown = cost is None or found.cost_usd is None
        cost = None if unknown else _add(cost, found.cost_usd, count)
        as_of = found.priced_as_of or as_of
    if cost is not None and max_cost_usd is not None:
        cost = Range(min(cost.low, max_cost_usd), min(cost.high, max_cost_usd))
    return Estimate(**sums, cost_usd=cost, priced_as_of=as_of)


def _add(total: Range | None, one: Range | None, count: int) -> Range:
    assert total is not None and one is not None
    return Range(round(total.low + one.low * count, 4), round(total.high + one.high * count, 4))
