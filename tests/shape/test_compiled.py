"""What is compiled is what it says, and means the same as when it is interpreted."""

import ast
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pointsman"
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
COMPILED, INTERPRETED = (CONFIG["hooks"]["custom"][key] for key in ("compiled", "interpreted"))


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """hatch_build.py, without the build system that it is made for."""
    interface = ModuleType("interface")
    interface.BuildHookInterface = SimpleNamespace  # type: ignore[attr-defined]
    name = "hatchling.builders.hooks.plugin.interface"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, name, interface)
        spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def test_modules_that_decide_are_compiled_and_those_that_define_values_are_not(hook: ModuleType) -> None:
    modules = {path.as_posix() for path in hook.chosen(PACKAGE, COMPILED, INTERPRETED)}
    assert {"pointsman/brain/dispatcher.py", "pointsman/gateway/exchange.py", "pointsman/wire/sse.py"} <= modules
    assert not modules & {"pointsman/brain/model/request.py", "pointsman/brain/policies/jffc.py", "pointsman/serve.py"}


@pytest.mark.parametrize("pattern", [*COMPILED, *INTERPRETED])
def test_every_pattern_means_some_module(pattern: str) -> None:
    assert list(PACKAGE.glob(pattern))


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("class A: pass", False),
        ("class A(B): pass", False),
        ("class A(Struct): pass", True),
        ("class A(msgspec.Struct, frozen=True): pass", True),
        ("class A(B, frozen=True): pass", True),
        ("@dataclass\nclass A: pass", True),
        ("@mypyc_attr(acyclic=True)\nclass A: pass", False),
    ],
)
def test_values_are_known_by_their_classes(hook: ModuleType, source: str, values: bool) -> None:
    assert hook._defines_values(ast.parse(source)) is values


def test_what_has_a_length_says_whether_it_is_true(hook: ModuleType) -> None:
    """mypyc takes any object for true whose class does not say so itself, whatever its length."""
    for path in hook.chosen(PACKAGE, COMPILED, INTERPRETED):
        for node in ast.walk(ast.parse((PACKAGE.parent / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                assert "__len__" not in methods or "__bool__" in methods, f"{path}: {node.name}"


def test_a_machine_without_a_compiler_gets_a_wheel_all_the_same(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, told = hook.CompiledWheel(), list[str]()
    build.app = SimpleNamespace(display_warning=told.append)
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.delenv("POINTSMAN_COMPILE", raising=False)
    data: dict[str, object] = {}
    build.initialize("standard", data)
    assert data == {}
    assert told == ["there is no C compiler (no-such-compiler): this wheel runs interpreted"]
    monkeypatch.setenv("POINTSMAN_COMPILE", "always")
    with pytest.raises(RuntimeError, match="no-such-compiler"):
        build.initialize("standard", data)
    build.initialize("editable", data)
    assert data == {}
