"""``python -m housewise`` runs the command line."""

from housewise.cli import main

if __name__ == "__main__":
    main()
