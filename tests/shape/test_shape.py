"""The shape of the code: short files, short functions, a test beside every file."""

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pointsman"
UNIT_TESTS = ROOT / "tests" / "unit"

# Files and folders without tests at the mirrored path, each with the tests that cover it: what many files do together
# is tested where it can be seen, over sockets, and a table or a value through what uses it.
COVERED_ELSEWHERE = {
    "brain/costs/hardware.py": "tests/unit/brain/costs/test_step_time.py",
    "brain/lease.py": "tests/properties/test_dispatcher.py",
    "brain/policies/base.py": "tests/unit/brain/policies/test_every_policy.py",
    "engine/api/": "tests/e2e/test_emulator.py",
    "engine/emulator.py": "tests/e2e/test_emulator.py",
    "engine/sequence.py": "tests/unit/engine/test_core.py",
    "gateway/": "tests/e2e/gateway",
    "observe/figures.py": "tests/unit/observe/test_report.py",
    "reload.py": "tests/e2e/gateway/test_reload.py",
    "serve.py": "tests/agreement/test_gateway_run.py",
    "wire/http1/messages.py": "tests/unit/wire/http1/test_request.py",
    "workers/link.py": "tests/e2e/workers/test_sharing.py",
    "workers/member.py": "tests/e2e/workers/test_sharing.py",
    "workers/process.py": "tests/e2e/workers/test_lives.py",
    "workers/supervisor.py": "tests/e2e/workers/test_lives.py",
    "workers/team.py": "tests/e2e/workers/test_lives.py",
    "workers/worker.py": "tests/e2e/workers/test_lives.py",
    "workload/azure.py": "tests/unit/workload/test_traces.py",
    "workload/bailian.py": "tests/unit/workload/test_traces.py",
    "workload/burstgpt.py": "tests/unit/workload/test_traces.py",
    "workload/columns.py": "tests/unit/workload/test_traces.py",
    "workload/mooncake.py": "tests/unit/workload/test_traces.py",
    "workload/rows.py": "tests/unit/workload/test_traces.py",
}


@dataclass(frozen=True, slots=True)
class Length:
    """Where something stands, and how many lines it has (from `def` to its last line; a file from first to last)."""

    where: str
    lines: int


def sources(folder: Path = PACKAGE) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def files(folder: Path = PACKAGE) -> list[Length]:
    """Every file that has a line."""
    counted = [(path, len(path.read_text(encoding="utf-8").splitlines())) for path in sources(folder)]
    return [Length(str(path.relative_to(ROOT)), lines) for path, lines in counted if lines]


def functions(folder: Path = PACKAGE) -> list[Length]:
    """Every function and method, nested ones included."""
    return [length for path in sources(folder) for length in _functions_in(path)]


def _functions_in(path: Path) -> list[Length]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    where = path.relative_to(ROOT)
    return [Length(f"{where}:{f.lineno} {f.name}", (f.end_lineno or f.lineno) - f.lineno + 1) for f in found]


def has_behaviour(path: Path) -> bool:
    """Whether the file defines any function; one of values or names alone has nothing of its own to test."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))


def quantile(lengths: list[Length], share: float) -> int:
    """The length that `share` of them do not exceed."""
    ordered = sorted(length.lines for length in lengths)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def longer_than(lengths: list[Length], limit: int) -> list[str]:
    return [f"{length.where}: {length.lines} lines" for length in lengths if length.lines > limit]


def test_files_are_short() -> None:
    lengths = files()
    assert not longer_than(lengths, 500)
    assert quantile(lengths, 0.5) <= 120
    assert quantile(lengths, 0.9) <= 300


def test_functions_are_short() -> None:
    lengths = functions()
    assert not longer_than(lengths, 60)
    assert quantile(lengths, 0.5) <= 10
    assert quantile(lengths, 0.9) <= 30


def test_test_files_are_short() -> None:
    assert not longer_than(files(ROOT / "tests"), 500)


def test_every_file_has_its_test() -> None:
    missing = [
        str(relative)
        for path in sources()
        if has_behaviour(path)
        and not (UNIT_TESTS / (relative := path.relative_to(PACKAGE)).with_name(f"test_{path.name}")).exists()
        and not str(relative).startswith(tuple(COVERED_ELSEWHERE))
    ]
    assert not missing, f"no test at the mirrored path under tests/unit for: {', '.join(missing)}"


def test_what_is_covered_elsewhere_exists_and_so_does_its_test() -> None:
    for file, test in COVERED_ELSEWHERE.items():
        assert (PACKAGE / file).exists(), f"{file} is gone: take it off the list"
        assert (ROOT / test).exists(), f"{file}: there is no {test}"
