"""How commands end when they do not come to their end."""

import io

import pytest
from rich.console import Console

from pointsman.config.compare import CompareConfig
from pointsman.config.flags import ConfigError
from pointsman.config.sim import SimConfig
from pointsman.observe import pages
from pointsman.observe.command_output import INTERRUPTED
from pointsman.simulate.cases import cases_of
from pointsman.simulate.command import FAILED, check, guarded
from pointsman.simulate.jobs import RunFailed

(CASE,) = cases_of(SimConfig(), ("jffc",))


def ended(error: BaseException) -> tuple[object, str]:
    def work() -> None:
        raise error

    err = Console(file=io.StringIO(), width=80)
    return guarded(work, "sweep", err), err.file.getvalue()  # type: ignore[attr-defined]


def test_what_the_work_gives_is_given_on() -> None:
    assert guarded(lambda: [3], "sweep", Console()) == [3]


def test_an_interrupt_ends_with_a_line() -> None:
    assert ended(KeyboardInterrupt()) == (INTERRUPTED, "pointsman sim sweep: interrupted\n")


def test_a_run_that_fails_ends_with_its_settings_and_where_it_failed() -> None:
    status, said = ended(RunFailed(CASE, "ZeroDivisionError: too bad", "Traceback: line 3"))
    assert status == FAILED
    assert said == "pointsman sim sweep: jffc, seed 1: ZeroDivisionError: too bad\nTraceback: line 3\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"policies": ("jffc", "no_such")}, "`policies`: no policy named 'no_such'"),
        ({"policies": ("jffc", "jffc")}, "`policies`: 'jffc' is named twice"),
        ({"report": "/dev/null"}, "`report`: /dev/null: exists and is not a file"),
        ({"csv": "/no/such/folder/f.csv"}, "`csv`: /no/such/folder/f.csv: No such file or directory"),
    ],
)
def test_what_cannot_be_used_is_told_before_the_work(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check(CompareConfig(**given))  # type: ignore[arg-type]


def test_a_report_that_could_not_be_drawn_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"`report`: a report needs matplotlib and jinja2: pip install"):
        check(CompareConfig(report="r.html"))
