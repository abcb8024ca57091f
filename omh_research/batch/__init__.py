"""Many runs: topics in, units of work out to an executor, every topic to its own end."""
