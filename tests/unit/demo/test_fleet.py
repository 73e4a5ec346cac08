"""The engines' command lines give back the settings meant."""

import argparse

import aiohttp
from aiohttp import web

from pointsman.config.flags import add_flags, load
from pointsman.demo.fleet import Fleet, flags
from pointsman.demo.scene import SCENE
from pointsman.engine.settings import EngineConfig


def test_flags_survive_the_way_through_the_command_line():
    for node in SCENE.nodes:
        config = node.engine(port=4711, time_scale=5.0)
        parser = argparse.ArgumentParser()
        add_flags(parser, EngineConfig)
        assert load(EngineConfig, None, vars(parser.parse_args(flags(config)))) == config


def test_defaults_are_left_unsaid():
    assert flags(EngineConfig()) == []


async def test_preemptions_are_those_the_engines_count(tmp_path):
    async def metrics(_):
        return web.Response(
            text='# HELP vllm:num_preemptions_total x\nvllm:num_preemptions_total{model_name="m"} 3.0\nvllm:other 9\n'
        )

    application = web.Application()
    application.router.add_get("/metrics", metrics)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fleet = Fleet(SCENE, 1.0, tmp_path)
    fleet.urls = dict.fromkeys(fleet.urls, f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}")
    try:
        async with aiohttp.ClientSession() as session:
            assert await fleet.preemptions(session) == 3 * len(SCENE.nodes)
    finally:
        await runner.cleanup()
