"""Commands are told apart by their tags, wherever they are written down."""

import msgspec

from pointsman.brain.model.commands import Command, Evict, Pin, SwapOut, Unpin


def test_every_command_comes_back_as_itself() -> None:
    commands: tuple[Command, ...] = (Evict((1, 2)), Pin((3,)), Unpin(()), SwapOut("request"))
    encoded = msgspec.json.encode(commands)
    assert msgspec.json.decode(encoded, type=tuple[Command, ...]) == commands
