import argparse
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from pointsman.config.flags import ConfigError, Recordings, add_flags, convert, load, read_toml


class Inner(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    size: Annotated[int, Meta(ge=1)] = 1


class Other(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sum: Annotated[float, Meta(gt=0)] = 1.0


class Tree(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    port: Annotated[int, Meta(ge=0, le=65535, description="port to listen on")] = 80
    share: Annotated[float, Meta(description="at most 100 %")] = 0.5
    mode: Annotated[Literal["fast", "slow"], Meta(description="how")] = "fast"
    limit: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="none if left out")] = None
    names: tuple[str, ...] = ()
    word: Annotated[str, Meta(description="said first", extra={"metavar": "WORD"})] = ""
    a_part: tuple[str, ...] = ()
    shares: tuple[float, ...] = (0.5, 1.0)
    sizes: tuple[int, ...] = ()
    loud: bool = False
    polite: bool = True
    inner: Inner = Inner()
    other: Other = Other()
    parts: tuple[Inner, ...] = ()
    named: dict[str, Inner] = {}


def flags(*arguments: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    add_flags(parser, Tree)
    return vars(parser.parse_args(arguments))


def file(folder: Path, text: str) -> str:
    path = folder / "settings.toml"
    path.write_text(text)
    return str(path)


def test_flags_stand_above_the_file_and_the_file_above_the_defaults(tmp_path: Path) -> None:
    path = file(tmp_path, 'port = 1\nmode = "slow"')
    tree = load(Tree, path, flags("--port", "2"))
    assert (tree.port, tree.mode, tree.share) == (2, "slow", 0.5)


def test_every_kind_of_flag_is_read() -> None:
    given = flags("--share", "0.25", "--mode", "slow", "--limit", "3", "--names", "a,b", "--loud")
    assert load(Tree, None, given) == Tree(share=0.25, mode="slow", limit=3, names=("a", "b"), loud=True)


def test_what_is_not_given_leaves_the_default() -> None:
    assert load(Tree, None, flags()) == Tree()
    assert load(Tree, None, flags("--no-polite")).polite is False


def test_only_what_is_on_by_default_can_be_switched_off() -> None:
    with pytest.raises(SystemExit) as ended:
        flags("--no-loud")
    assert ended.value.code == 2


def test_nested_tables_are_no_flags() -> None:
    assert not {"inner", "parts", "named"} & set(flags())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prot = 1", ["`prot` is not a setting", "did you mean `port`?", "allowed here: a_part, inner, limit"]),
        ("port = 70000", ["`port` must be a whole number up to 65535"]),
        ('mode = "quick"', ["`mode` cannot be 'quick'; allowed are: fast, slow"]),
        ('limit = "x"', ["`limit` must be a whole number, not text"]),
        ("limit = 0", ["`limit` must be a whole number of at least 1"]),
        ("[other]\nsum = 0", ["`other.sum` must be a number above 0"]),
        ("[other]\nsize = 1", ["`other.size` is not a setting; did you mean `inner.size`? allowed here: sum"]),
        ("sum = 1", ["`sum` is not a setting; did you mean `other.sum`?"]),
        ("[[a_part]]\nx = 1", ["`a_part[0]` must be text, not a table; did you mean `[[parts]]`?"]),
        ("[inner]\nsice = 2", ["`inner.sice` is not a setting", "did you mean `size`?", "allowed here: size"]),
        ("[[parts]]\nsize = 1\n[[parts]]\nsize = 0", ["`parts[1].size` must be a whole number of at least 1"]),
        ("[[parts]]\nsice = 1", ["allowed here: size"]),
        ("[named.x]\nsice = 1", ["allowed here: size"]),
        ("port = ", ["not valid TOML"]),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_what_is_allowed(tmp_path: Path, text: str, told: list[str]) -> None:
    path = file(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(Tree, path, {})
    for part in (path, *told):
        assert part in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read"):
        read_toml(str(tmp_path / "nowhere.toml"))


def test_a_bad_flag_names_the_command_line() -> None:
    with pytest.raises(ConfigError, match="the command line: `port`"):
        load(Tree, None, flags("--port", "-1"))


def test_help_tells_description_and_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        flags("--help")
    text = " ".join(capsys.readouterr().out.split())
    assert "port to listen on (default: 80)" in text
    assert "--word WORD said first" in text
    assert "--no-polite" in text
    assert "at most 100 % (default: 0.5)" in text
    assert "{fast,slow}" in text


def test_a_flag_lists_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert load(Tree, None, flags("--shares", "0.25,3", "--shares", "7")).shares == (0.25, 3.0, 7.0)
    with pytest.raises(SystemExit):
        flags("--shares", "0.25,much")
    assert "argument --shares: expected numbers with commas between them, got '0.25,much'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        flags("--help")
    assert "--shares NUMBER,... (default: 0.5, 1.0)" in " ".join(capsys.readouterr().out.split())


def test_a_flag_lists_whole_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert load(Tree, None, flags("--sizes", "3,100", "--sizes", "7")).sizes == (3, 100, 7)
    with pytest.raises(SystemExit):
        flags("--sizes", "3,1.5")
    assert "argument --sizes: invalid whole_numbers value: '3,1.5'" in capsys.readouterr().err


def test_a_value_of_the_wrong_type_is_not_coerced() -> None:
    with pytest.raises(ConfigError, match="`port`"):
        convert({"port": "80"}, Tree, "here")


def test_files_may_be_named_without_a_flag() -> None:
    class Named(msgspec.Struct):
        files: Annotated[Recordings, Meta(description="what to read")] = ()
        share: float = 0.5

    def read(*arguments: str) -> dict[str, Any]:
        parser = argparse.ArgumentParser()
        add_flags(parser, Named)
        return vars(parser.parse_args(arguments))

    assert read("a", "b", "--share", "1") == {"files": ["a", "b"], "share": 1.0}
    assert "files" not in read("--share", "1")
