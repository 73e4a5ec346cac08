"""When files have changed, and which."""

import os
from pathlib import Path

import pytest

from pointsman.config.files import Watch, digests, files_of
from pointsman.config.serve import ServeConfig


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.toml"
    path.write_text("one")
    return path


def test_a_change_counts_when_it_rests(path: Path) -> None:
    watch = Watch([str(path)])
    assert not watch.changed()
    path.write_text("")
    assert not watch.changed(), "an editor may be at it"
    path.write_text("two and more")
    assert not watch.changed()
    assert watch.changed()
    watch.mark()
    assert not watch.changed()


def test_a_change_while_it_is_read_is_noticed_after_all(path: Path) -> None:
    watch = Watch([str(path)])
    watch.mark()
    path.write_text("changed while read")
    watch.follow([str(path)])
    watch.changed()
    assert watch.changed()


def test_a_file_put_in_the_place_of_another_is_a_change(path: Path) -> None:
    """As editors do it, and a volume of secrets, where a link turns to another directory."""
    watch = Watch([str(path)])
    other = path.with_name("b")
    other.write_text("one")
    times = path.stat()
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)
    watch.changed()
    assert watch.changed()


def test_a_missing_file_is_watched_for(path: Path) -> None:
    path.unlink()
    watch = Watch([str(path), "\0"])
    path.write_text("one")
    watch.changed()
    assert watch.changed()


def test_only_files_in_use_are_watched(path: Path, tmp_path: Path) -> None:
    watch = Watch([str(path)])
    other = tmp_path / "key"
    watch.follow([str(other)])
    path.write_text("changed")
    assert not watch.changed()
    assert not watch.changed()


def test_the_files_a_configuration_is_made_of(path: Path) -> None:
    config = ServeConfig(node_key_file=str(path), chain_secret_file="/none")
    assert files_of(config, "x.toml") == ["x.toml", str(path), "/none"]
    assert files_of(ServeConfig(), None) == []
    assert list(digests(config)) == ["node_key_file"]
    before = digests(config)
    path.write_text("other")
    assert digests(config) != before
