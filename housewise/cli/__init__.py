"""The command line ``housewise``: one module per command."""

from __future__ import annotations

import os


def main() -> None:
    """Run the command line. This is the entry point of ``housewise``."""
    from housewise.cli.app import run_app
    from housewise.core.exit_codes import run_cli

    # Idle threads of torch sleep instead of spinning: two programs on two cores write three times as fast, and a
    # single one about a tenth slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    run_cli(run_app)
