"""Scripts are no package: their folders of helpers are put where they can be imported from."""

import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[3] / "scripts"
sys.path += [str(SCRIPTS / "bench.d"), str(SCRIPTS / "faults.d")]
