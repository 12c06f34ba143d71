"""``python -m housewise`` is the command ``housewise``."""

from housewise.cli import main

main()
