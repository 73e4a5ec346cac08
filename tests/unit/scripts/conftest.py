"""Scripts are no package: their folders of helpers are put where they can be imported from."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "scripts" / "bench.d"))
