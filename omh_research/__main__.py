"""`python -m omh_research` and the `omh-research` script. Importers: nobody."""

from omh_research.cli import main

if __name__ == "__main__":
    main()
