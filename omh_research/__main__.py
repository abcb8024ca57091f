"""`python -m omh_research` and the `omh-research` script. Importers: nobody."""

import gc

# Imports make many objects that live on; looking through them over and over finds no garbage.
gc.set_threshold(50_000, 20, 100)

from omh_research.cli import main  # noqa: E402  (the collector is set before click is read)

if __name__ == "__main__":
    main()
