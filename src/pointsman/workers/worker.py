"""One worker process. Its standard input is its end of the link to the supervisor."""

import asyncio
import os
import socket
from contextlib import ExitStack

from pointsman.config.serve import ServeConfig
from pointsman.config.source import Source
from pointsman.serve import Place, Service, run
from pointsman.workers.link import linked
from pointsman.workers.member import Member

_STDIN = 0


def main(config: ServeConfig, source: Source[ServeConfig]) -> int:
    """Serve until told to stop; returns the exit status. Raises ConfigError for settings that cannot be used."""
    return run(config, _work(config, source, _inherited()))


async def _work(config: ServeConfig, source: Source[ServeConfig], end: socket.socket) -> int:
    member = Member()
    await linked(end, member.link)
    welcome = await member.welcome
    if welcome is None:
        return 1
    with ExitStack() as exit_stack:
        listener = socket.socket(fileno=welcome.listener)
        place = Place(welcome.number, listener, welcome.chain_secret)
        service = Service(config, source, exit_stack, place)
        service.join()
        member.serve(service, welcome.changes)
        await member.heard.wait()
        await service.start_in_place()
        member.ready()
        await service.until_stopped()
        await asyncio.shield(member.leave())
    return 0


def _inherited() -> socket.socket:
    """The socket that is standard input, which is nothing further from now on."""
    end = socket.socket(fileno=os.dup(_STDIN))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    return end
