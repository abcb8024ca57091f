"""Running several provider calls side by side.

Job: call each function in a thread of its own and return every outcome, in the order given.
Refuses to cancel or to time out: each call bounds itself. Importers: providers, tools.academic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Outcome = TypeVar("Outcome")


def run_together(jobs: Mapping[str, Callable[[], Outcome]]) -> dict[str, Outcome | Exception]:
    """Return each job's result or the exception it raised, keyed and ordered as given.

    Takes the time of the slowest: the providers' waits overlap (spec T6, Q9).
    """
    if not jobs:
        return {}
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=len(jobs), thread_name_prefix="provider") as pool:
        running = {name: pool.submit(job) for name, job in jobs.items()}
        return {
            name: _outcome_of(future.exception, future.result) for name, future in running.items()
        }


def _outcome_of(
    failure: Callable[[], BaseException | None], result: Callable[[], Outcome]
) -> Outcome | Exception:
    error = failure()
    if isinstance(error, Exception):
        return error
    return result()
