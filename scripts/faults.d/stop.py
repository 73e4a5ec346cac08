"""One of three engines is stopped (SIGSTOP) under load and goes on later: the others' clients notice nothing.

A stopped engine still accepts connections within a millisecond and never says a word. The same load, to the byte, runs
twice: undisturbed, and with one engine stopped for a while. Compared are requests that the two others served, in both
runs those sent from the stop on. The report says what became of the requests on the stopped engine, too.
"""

import argparse
import asyncio
import signal
import sys
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass

from scene.load import Load, Sent
from scene.report import Report, Steps, ms, quantiles
from scene.rest import claim_rest
from scene.running import parser, run
from scene.settings import played
from scene.usage import open_files
from scene.utilised import arguments as load_arguments
from scene.utilised import load_of, loaded, stage
from scene.watch import Watch
from scene.world import World

VICTIM = "b"
CALM = 0.2
"""Most by which the others' P99 may differ from the undisturbed run."""
PROBES = 2
PROBE_EVERY_S = 10.0
PROBE_TIMEOUT_S = 2.0
OUT_WITHIN_S = PROBE_EVERY_S + PROBES * PROBE_TIMEOUT_S + 2.0
"""The next probe comes within its spacing, each takes its whole time, and the second follows within the short spacing."""
