"""What must hold when nobody asks for anything any more."""

import asyncio
import time

from scene.report import Report, ms
from scene.usage import open_files
from scene.world import World

REST_WITHIN_S = 10.0


async def claim_rest(report: Report, here: World, files: int, lost_with: str = "") -> None:
    """`files` were open before; an engine `lost_with` its requests cannot tell of their end."""
    seconds, left = await here.admin.at_rest(REST_WITHIN_S)
    report.claim("every account zero at the end", not left, left or f"after {ms(seconds)}")
    now = await files_back(here, files)
    report.claim("as many open files as before", now <= files, f"{files} before, {now} after")
    here.audits.refresh()
    running = here.audits.running(lost_with)
    report.claim("no engine works on anything", not running, f"{len(running)} requests")
    troubles = here.troubles()
    report.claim("no unhandled error in any log", not troubles, troubles[:3] or "none")


async def files_back(here: World, files: int) -> int:
    """Connections to nodes are kept a while, and probes come and go: the fewest open files seen within that time."""
    fewest = open_files(here.pids())
    until = time.monotonic() + REST_WITHIN_S
    while fewest > files and time.monotonic() < until:
        await asyncio.sleep(0.2)
        fewest = min(fewest, open_files(here.pids()))
    return fewest
