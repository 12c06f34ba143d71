"""``python -m housewise`` is the command ``housewise``."""

from housewise.cli import main

if __name__ == "__main__":
    main()
