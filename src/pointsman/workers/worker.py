"""One worker process. Its standard input is its end of the link to the supervisor, who tells it everything else."""

import asyncio
import logging
import os
import signal
import socket
from contextlib import ExitStack

import uvloop

from pointsman.config.flags import ConfigError
from pointsman.serve import Place, Service, log_as
from pointsman.workers.link import linked
from pointsman.workers.member import Member
from pointsman.workers.messages import Welcome

WHO = "%(name)s[%(process)d]"
"""Workers share one log, so each line says whose it is."""
_STDIN = 0

_log = logging.getLogger("pointsman")


def main() -> int:
    """Serve until told to stop; returns the exit status."""
    for number in (signal.SIGHUP, signal.SIGUSR2):  # for the supervisor, who reads the configuration and replaces us
        signal.signal(number, signal.SIG_IGN)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_work(_inherited()))


async def _work(end: socket.socket) -> int:
    member = Member()
    await linked(end, member.link)
    welcome = await member.welcome
    if welcome is None:
        return 1
    log_as(welcome.config, WHO)
    try:
        await _serve(member, welcome)
    except ConfigError as error:
        _log.error("%s", error)
        return 1
    return 0


async def _serve(member: Member, welcome: Welcome) -> None:
    """Raises ConfigError when a file that the settings name cannot be used any more."""
    with ExitStack() as exit_stack:
        listener = socket.socket(fileno=welcome.listener)
        place = Place(welcome.number, listener, welcome.chain_secret)
        service = Service(welcome.config, None, exit_stack, place)
        service.join()
        member.serve(service, welcome.changes)
        await member.heard.wait()
        await service.start_in_place()
        member.ready()
        await service.until_stopped()
        await asyncio.shield(member.leave())


def _inherited() -> socket.socket:
    """The socket that is standard input, which is nothing further from now on."""
    end = socket.socket(fileno=os.dup(_STDIN))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    return end
