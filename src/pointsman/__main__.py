"""`python -m pointsman`."""

import sys

from pointsman.cli import main

sys.exit(main())
