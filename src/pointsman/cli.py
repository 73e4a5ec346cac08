"""The command line: one subcommand a part of the product. Each is imported only when it is asked for."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Sequence
from errno import ENOSPC, EPIPE
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import msgspec

    from pointsman.config.source import Source

USAGE_ERROR = 2

_ABOUT = "One OpenAI-compatible address in front of many inference engines. Each command has its own --help."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` (those of the process by default) name; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["worker"]:
        return _worker()
    command = COMMANDS.get(given[0]) if given else None
    if command is None:
        return _overview("pointsman", _ABOUT, {name: what for name, (_, what) in COMMANDS.items()}, given)
    return command[0](given[1:])


def _serve(arguments: list[str]) -> int:
    from pointsman.config.serve import ServeConfig

    def run(config: ServeConfig, source: Source[ServeConfig]) -> int:
        if config.workers > 1:
            from pointsman.workers.supervisor import main as supervise

            return supervise(config, source)
        from pointsman.serve import main as serve

        return serve(config, source)

    return _configured("serve", ServeConfig, arguments, run)


def _worker() -> int:
    """What a supervisor starts: no command for people."""
    from pointsman.workers.worker import main as run

    return run()


def _engine(arguments: list[str]) -> int:
    from pointsman.config.catalogue import Files
    from pointsman.config.flags import ConfigError
    from pointsman.engine.emulator import Engine, serve
    from pointsman.engine.settings import EngineConfig

    def run(config: EngineConfig) -> int:
        try:
            engine = Engine(config, Files())
        except (ValueError, OSError) as error:
            raise ConfigError(str(error)) from None
        return serve(engine)

    return _configured("engine", EngineConfig, arguments, lambda config, _: run(config))


def _demo(arguments: list[str]) -> int:
    from pointsman.config.demo import DemoConfig
    from pointsman.demo.main import main as run

    return _configured("demo", DemoConfig, arguments, lambda config, _: run(config))


def _replay(arguments: list[str]) -> int:
    from pointsman.config.replay import ReplayConfig
    from pointsman.replay import main as run

    return _configured("replay", ReplayConfig, arguments, lambda config, _: run(config))


def _explain(arguments: list[str]) -> int:
    from pointsman.config.story import ExplainConfig
    from pointsman.explain.main import main as run

    return _configured("explain", ExplainConfig, arguments, lambda config, _: run(config))


def _sim(arguments: list[str]) -> int:
    name = arguments[0] if arguments else ""
    if name not in SIM_COMMANDS:
        return _overview("pointsman sim", COMMANDS["sim"][1], SIM_COMMANDS, arguments)
    from pointsman.config.compare import CompareConfig
    from pointsman.config.fit import FitConfig
    from pointsman.config.sim import RunConfig
    from pointsman.config.sim_replay import SimReplayConfig
    from pointsman.config.sweep import SweepConfig
    from pointsman.simulate.fit import fit
    from pointsman.simulate.main import compare, run_one, sweep
    from pointsman.simulate.replay import replay

    if name == "experiment":
        from pointsman.config.experiment import ExperimentConfig
        from pointsman.simulate.experiments.main import experiment

        return _configured("sim experiment", ExperimentConfig, arguments[1:], lambda config, _: experiment(config))
    if name == "run":
        return _configured("sim run", RunConfig, arguments[1:], lambda config, _: run_one(config))
    if name == "sweep":
        return _configured("sim sweep", SweepConfig, arguments[1:], lambda config, _: sweep(config))
    if name == "fit":
        return _configured("sim fit", FitConfig, arguments[1:], lambda config, _: fit(config))
    if name == "replay":
        return _configured("sim replay", SimReplayConfig, arguments[1:], lambda config, _: replay(config))
    return _configured("sim compare", CompareConfig, arguments[1:], lambda config, _: compare(config))


def _plan(arguments: list[str]) -> int:
    name = arguments[0] if arguments else ""
    if name not in PLAN_COMMANDS:
        return _overview("pointsman plan", COMMANDS["plan"][1], PLAN_COMMANDS, arguments)
    from pointsman.config.plan import EXAMPLE, ChainsConfig
    from pointsman.plan.main import chains

    return _configured("plan chains", ChainsConfig, arguments[1:], lambda config, _: chains(config), EXAMPLE)


def _cache(arguments: list[str]) -> int:
    name = arguments[0] if arguments else ""
    if name not in CACHE_COMMANDS:
        return _overview("pointsman cache", COMMANDS["cache"][1], CACHE_COMMANDS, arguments)
    from pointsman.cache_replay import main as run
    from pointsman.config.cache import CacheReplayConfig

    return _configured("cache replay", CacheReplayConfig, arguments[1:], lambda config, _: run(config))


CACHE_COMMANDS = {"replay": "compare eviction rules on the prompts of a trace"}

PLAN_COMMANDS = {"chains": "split a model over servers too small for it, and choose the chains that jobs take"}

SIM_COMMANDS = {
    "run": "simulate a fleet under one policy",
    "compare": "simulate a fleet under several policies, on the same requests",
    "sweep": "simulate policies against load, and find the highest rate that each can take",
    "replay": "simulate recorded traffic under several policies",
    "experiment": "ask a question whose answer is known or wanted: experiments by name, and what came of their claims",
    "fit": "fit an engine's constants to recorded timings",
}

COMMANDS: dict[str, tuple[Callable[[list[str]], int], str]] = {
    "serve": (_serve, "run the gateway in front of inference engines"),
    "engine": (_engine, "run an emulated engine"),
    "demo": (_demo, "compare policies on emulated engines"),
    "explain": (_explain, "tell the whole story of one request: where it waited, why it went where it went"),
    "replay": (_replay, "make the decisions of a recorded run again"),
    "sim": (_sim, "try policies offline, on a simulated fleet"),
    "cache": (_cache, "study what a prefix cache should keep"),
    "plan": (_plan, "plan what to run where, before anything runs"),
}

_SUBCOMMANDS = {
    f"{group} {name}": what
    for group, commands in (("sim", SIM_COMMANDS), ("plan", PLAN_COMMANDS), ("cache", CACHE_COMMANDS))
    for name, what in commands.items()
}


def build() -> str:
    """How the modules that decide and relay run here: "compiled" or "interpreted"."""
    hot = find_spec("pointsman.brain.dispatcher")
    return "compiled" if hot is not None and hot.origin is not None and hot.origin.endswith(".so") else "interpreted"


def _configured(
    name: str,
    tree: type[msgspec.Struct],
    arguments: list[str],
    run: Callable[[Any, Source[Any]], int],
    example: str = "",
) -> int:
    """Parse flags and file into `tree` and run; settings that cannot be used end with one line and status 2.

    `example` is a file to show in the help.
    """
    from pointsman.config.arguments import Arguments
    from pointsman.config.flags import ConfigError, add_flags
    from pointsman.config.source import Source
    from pointsman.observe.command_output import INTERRUPTED

    parser = Arguments(f"pointsman {name}", COMMANDS[name][1] if name in COMMANDS else _SUBCOMMANDS[name])
    if example:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = f"an example of a file:\n\n{example}"
    parser.add_argument("--config", metavar="FILE", help="TOML file with the settings; flags override it")
    add_flags(parser, tree)
    flags = parser.flags(arguments)
    source = Source(tree, flags.pop("config"), flags)
    try:
        settings = source.read()
    except ConfigError as error:
        return _refused(name, str(error))
    try:
        status = run(settings, source)
        sys.stdout.flush()
    except ConfigError as error:
        return _refused(name, source.named(error))
    except KeyboardInterrupt:
        print(f"pointsman {name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if error.errno not in (ENOSPC, EPIPE):
            raise
        return _unwritten(name, error)
    return status


def _refused(name: str, why: str) -> int:
    print(f"pointsman {name}: {why}", file=sys.stderr)
    return USAGE_ERROR


def _unwritten(name: str, error: OSError) -> int:
    """The disk is full, or nobody reads any more. What still waits to be written to stdout goes nowhere."""
    from pointsman.observe.command_output import FAILED

    print(f"pointsman {name}: cannot write what came out: {error.strerror}", file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED


def _overview(prog: str, about: str, known: dict[str, str], arguments: list[str]) -> int:
    """Help, the version, or what is wrong with `arguments`, which begin with none of the `known` commands."""
    from pointsman import __version__

    parser = argparse.ArgumentParser(prog=prog, description=about)
    parser.add_argument("--version", action="version", version=f"pointsman {__version__} ({build()})")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, what in known.items():
        commands.add_parser(name, help=what)
    if arguments and not arguments[0].startswith("-"):
        near = difflib.get_close_matches(arguments[0], known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        parser.error(f"no COMMAND {arguments[0]!r}; {hint}there are: {', '.join(known)}")
    parser.parse_args(arguments)
    return USAGE_ERROR
