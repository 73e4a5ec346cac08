from pathlib import Path

import msgspec
import pytest

from pointsman.config.flags import ConfigError
from pointsman.config.source import Source


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    size: int = 1
    name: str = ""


def test_it_reads_what_is_there_now_under_the_flags(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("size = 2")
    source = Source(Tree, str(path), {"name": "flag", "size": None})
    assert source.read() == Tree(2, "flag")
    path.write_text("size = 3\nname = 'file'")
    assert source.read() == Tree(3, "flag")
    path.unlink()
    with pytest.raises(ConfigError, match=r"a\.toml: cannot be read"):
        source.read()


def test_it_knows_where_a_setting_stands() -> None:
    source = Source(Tree, "a.toml", {"name": "flag", "size": None})
    assert source.named(ConfigError("`size`: too small")) == "a.toml: `size`: too small"
    assert source.named(ConfigError("`name`: bad")) == "the command line: `name`: bad"
