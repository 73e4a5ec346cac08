"""Whatever cannot be simulated is told in one clear line, by file and line or by setting, with what to do instead."""

from pathlib import Path

import pytest

from pointsman.cli import USAGE_ERROR, main

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,10,10\n"
MOONCAKE = '{"timestamp": 0, "input_length": 9, "output_length": 1}\n'


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line."""
    assert main(["sim", "run", "--seconds", "5", *arguments]) == USAGE_ERROR
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("pointsman sim run: ")
    return err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (AZURE + "2023-11-16 18:17:04,many,10\n", "t.txt, line 3: ContextTokens is 'many', not a whole number"),
        (AZURE + "2023-11-16 18:17:04,10\n", "t.txt, line 3: 2 cells where the header has 3"),
        (AZURE + "yesterday,10,10\n", "t.txt, line 3: Invalid isoformat string: 'yesterday'"),
        ("TIMESTAMP,Context,Generated\n1,2,3\n", "t.txt, line 1: 'TIMESTAMP,Context,Generated' begins no known format"),
        ('{"timestamp": 1, "tokens": 3}\n', "t.txt, line 1: fields timestamp, tokens fit no known format"),
        (
            MOONCAKE + '{"timestamp": -1, "input_length": 9, "output_length": 1}',
            "line 2: timestamp must be a number of at",
        ),
        (MOONCAKE + '{"timestamp": NaN, "input_length": 9, "output_length": 1}', "line 2: JSON is malformed"),
        (MOONCAKE + '{"timestamp": 1, "input_length": 9}', "t.txt, line 2: output_length is missing"),
        ("", "t.txt: the file is empty"),
        ("\n \n", "t.txt: the file is empty"),
        (AZURE.splitlines()[0], "t.txt: not one readable row"),
    ],
)
def test_a_trace_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (tmp_path / "t.txt").write_text(text)
    line = told(capsys, "--trace", str(tmp_path / "t.txt"))
    assert "`trace`: " in line
    assert said in line


def test_a_trace_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t").write_bytes(b"\x80\xff")
    assert "not a text file" in told(capsys, "--trace", str(tmp_path / "t"))
    assert "Is a directory" in told(capsys, "--trace", str(tmp_path))
    assert "No such file" in told(capsys, "--trace", str(tmp_path / "nope"))


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--policy jfc", "`policy`: no policy named 'jfc'; did you mean 'jffc'"),
        ("--fleet mix", "`fleet`: no preset named 'mix'; there are: "),
        ("--workload chats", "`workload`: no preset named 'chats'; there are: "),
        ("--rate -1", "`rate` must be a number above 0"),
        ("--rate nan", "`rate` must be a finite number"),
        ("--rate inf", "`rate` must be a finite number"),
        ("--load 0", "`load` must be a number above 0"),
        ("--rate 1e9", "`rate`: 5e+09 requests are too many; up to 20,000,000 can be planned"),
        ("--rate 0.0001", "`seconds`: no request is sent in 5 s; give more time or a higher rate"),
        ("--rate 1 --load 0.5", "`load`: how fast requests come is said by `rate` already"),
        ("--nodes 1", "`nodes`: 1 nodes are too few to have one of each kind: fast, slow"),
        ("--gateways 0", "`gateways` must be a whole number of at least 1"),
        ("--gateways 2 --journal j", "`journal`: it holds the calls of one gateway"),
        ("--leaving 1.5", "`leaving` must be a number up to 1"),
        ("--report-delay-s -1", "`report_delay_s` must be a number of at least 0"),
        ("--part first_half", "`part`: there is no trace that it could concern"),
        ("--arrivals trace", "`arrivals`: there is no trace to arrive as"),
        ("--config nope.toml", "nope.toml: cannot be read: No such file or directory"),
    ],
)
def test_flags_that_mean_nothing(capsys: pytest.CaptureFixture[str], flags: str, said: str) -> None:
    assert said in told(capsys, *flags.split())


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("rate = [", "s.toml: not valid TOML"),
        ("rtae = 3", "s.toml: `rtae` is not a setting; did you mean `rate`"),
        ("rate = nan", "s.toml: `rate` must be a finite number"),
        ("seconds = -3", "s.toml: `seconds` must be a number above 0"),
        ("[[nodes]]\nname = 'a'", "s.toml: `nodes` must be a whole number, not a list; did you mean `[[node]]`?"),
        ("[clients]\nname = 'a'", "s.toml: `clients` must be a list, not a table; write `[[clients]]`"),
        ("[[node]]\nname = 'a'\ngpu = 'H1'", "s.toml: `node`: no gpu 'H1'"),
        ("[[node]]\nname = 'a'\nkind = 'gpu'", "s.toml: `node[0].kind` cannot be 'gpu'; allowed are: engine, plain"),
        ("[[node]]\nname = 'a'\n[[node]]\nname = 'a'", "s.toml: `node`: two nodes are named 'a'"),
        ("[[failure]]\nnode = 'x'\nbegins_s = 1", "`failure[0].node`: no node named 'x'; there are: fast-1, fast-2"),
        ("[[failure]]\nnode = 'fast-1'\nbegins_s = 5\nends_s = 4", "`failure[0].ends_s`: 4 is not after 5"),
        ("[[failure]]\nnode = 'fast-1'\nbegins_s = -5", "`failure[0].begins_s` must be a number of at least 0"),
        ("[[failure]]\nnode = 'fast-1'\nmode = 'hang'\nbegins_s = 1", "`failure[0].mode` cannot be 'hang'; allowed"),
        ("[[drain]]\nnode = 'fast-1'\nbegins_s = 1\n" * 2, "`drain[1].begins_s`: 1 is before the end of the one"),
        (
            "[[slowdown]]\nnode = 'fast-1'\nfactor = 0\nbegins_s = 1\nends_s = 2",
            "`slowdown[0].factor` must be a number ab",
        ),
        ("[[clients]]\nname = 'a'\noutput = { median = -3 }", "`clients[0].output.median` must be a number above 0"),
        ("[[clients]]\nname = 'a'\n[[clients]]\nname = 'a'", "`clients[1].name`: 'a' is named twice"),
        ("[parameters.fastest_completion]\nnope = 1", "policy 'fastest_completion' has no parameter 'nope'"),
    ],
)
def test_files_that_mean_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str], toml: str, said: str) -> None:
    (tmp_path / "s.toml").write_text(toml)
    assert said in told(capsys, "--config", str(tmp_path / "s.toml"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[node]]\nname = "a"\nbandwidth_scale = 1e-300\n', "bandwidth_scale"),
        ('[[node]]\nname = "a"\ncount = 1000000000\n', "count"),
        ('[[node]]\nname = "a"\nkind = "plain"\nplain_base_seconds = 0\n', "plain_base_seconds"),
    ],
)
def test_what_no_machine_is_like(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (tmp_path / "t.toml").write_text(text)
    assert said in told(capsys, "--config", str(tmp_path / "t.toml"))


def test_a_billion_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nodes" in told(capsys, "--nodes", "1000000000")


@pytest.mark.parametrize("ids", ["[-1]", f"[{10**30}]"])
def test_ids_that_are_no_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str], ids: str) -> None:
    (tmp_path / "t").write_text(MOONCAKE + MOONCAKE.replace("}", f', "hash_ids": {ids}' + "}"))
    assert "line 2: hash_ids" in told(capsys, "--trace", str(tmp_path / "t"))
