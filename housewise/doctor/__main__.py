"""``python -m housewise.doctor`` runs the checks of housewise.doctor."""

import os
import sys
from pathlib import Path

from housewise.core.console import Console
from housewise.doctor import run_doctor

if __name__ == "__main__":
    data = os.environ.get("HOUSEKEEP_DATA")
    sys.exit(not run_doctor(Path(data) if data else None, None, Console()))
