"""The tests. A busy machine is no fault of the code: no property test fails for taking its time."""

import sys

if "pytest" in sys.modules:  # the harness and the benchmark take test data from here too
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("patient")
