"""The listening socket, which can be closed for a while as if the engine were gone."""

import asyncio

from aiohttp import web


class Listener:
    """One TCP address in front of an aiohttp application."""

    def __init__(self, host: str, port: int) -> None:
        self.port = port
        self._host = host
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self._reopening: asyncio.Task[None] | None = None

    async def open(self, runner: web.AppRunner) -> None:
        """Start to listen. Raises OSError if the address is taken."""
        await runner.setup()
        self._runner = runner
        try:
            await self._listen(runner)
        except OSError:
            await runner.cleanup()
            raise
        address = runner.addresses[0]
        self.port = address[1]

    async def close(self) -> None:
        if self._reopening is not None:
            self._reopening.cancel()
        if self._runner is not None:
            await self._runner.cleanup()

    async def refuse(self, seconds: float | None) -> None:
        """Refuse connections for `seconds` (None: for good) and close the idle ones; requests in progress go on."""
        if self._site is None or self._runner is None:
            return
        await self._site.stop()
        self._site = None
        if self._runner.server is not None:
            self._runner.server.pre_shutdown()
        if seconds is not None:
            self._reopening = asyncio.create_task(self._reopen(self._runner, seconds))

    async def _reopen(self, runner: web.AppRunner, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._listen(runner)

    async def _listen(self, runner: web.AppRunner) -> None:
        site = web.TCPSite(runner, self._host, self.port, reuse_address=True)
        await site.start()
        self._site = site
