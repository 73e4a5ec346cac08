"""The engines' command lines give back the settings meant."""

import argparse

from pointsman.config.flags import add_flags, load
from pointsman.demo.fleet import flags
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
