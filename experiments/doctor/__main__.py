"""``python -m experiments.doctor``: see experiments.doctor."""

import os
import sys
from pathlib import Path

from experiments.console import Console
from experiments.doctor import run_doctor

if __name__ == "__main__":
    data = os.environ.get("HOUSEKEEP_DATA")
    sys.exit(not run_doctor(Path(data) if data else None, None, Console()))
