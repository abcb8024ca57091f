"""The command line: parse, one call, print, exit.

Job: the command group, its lazy subcommands, and the single place where errors become text and
exit codes. Refuses to decide anything. Importers: __main__.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
from typing import Any, NoReturn

import click

from omh_research import __version__
from omh_research.errors import OmhError, ScopeError, StorageError, UsageError

COMMANDS: dict[str, tuple[str, str]] = {
    "start": ("research:start", "Start research on a topic: decompose it."),
    "step": ("stepping:step", "Advance a run by exactly one phase."),
    "run": ("research:run", "Start (or carry on) and step until the end."),
    "batch": ("batch:batch", "Run every topic of a file, carrying on where it stopped."),
    "next": ("stepping:next_tasks", "Hand out the tasks that wait for the host."),
    "submit": ("stepping:submit", "Hand in the answer to one task."),
    "status": ("operate:status", "List runs, or show one."),
    "watch": ("watch:watch", "Watch a run or a batch live."),
    "show": ("operate:show", "Print a run's plan, findings, report or verdict."),
    "log": ("operate:log", "Print a run's events."),
    "wait": ("operate:wait", "Wait until a report is confirmed."),
    "cancel": ("operate:cancel", "Ask a run to stop at the next boundary."),
    "retry": ("operate:retry", "Set a blocked run going again."),
    "clear": ("operate:clear", "Forget a run's state (its files stay)."),
    "recover": ("operate:recover", "Sweep what crashes left behind."),
    "export": ("export:export", "Write a report as html, docx, pdf, bibtex, auto-deep-research, …"),
    "audit": ("inspection:audit", "Re-check a confirmed report from its folder, offline."),
    "doctor": ("inspection:doctor", "Say what works here and what does not."),
    "roles": ("inspection:roles", "Print a role's text."),
    "schema": ("inspection:schema", "Print a JSON Schema."),
    "tools": ("evidence:tools", "Evidence tools: caps, academic, compress, citations."),
    "literature": ("literature:literature", "Literature bundles: run, validate, export."),
    "web": ("web:web", "Search the web, read a page."),
    "skill": ("skill:skill", "Install the Agent Skill for a host."),
    "mcp": ("mcp:mcp", "Serve the engine over MCP (stdio)."),
}


# Where an error without a file's name is one of standard output.
_PRINTING = ("click.utils", "omh_research.cli", "omh_research.cli.output")


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, listed without importing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(f"omh_research.cli.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="omh-research")
def cli() -> None:
    """A research engine that survives anything: five phases on plain files, every quote checked.

    Exit codes: 0 done or confirmed, 1 failure, 2 usage, 3 blocked, 4 cancelled, 5 waiting for the
    host, 6 busy, 7 no such run or damaged files, 8 a prerequisite is missing, 124 wait timed out,
    130 interrupted (Ctrl-C): the run carries on where it stopped.
    """


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit with the spec's codes."""
    args = sys.argv[1:] if argv is None else argv
    atexit.register(gc.freeze)  # the interpreter's last look for garbage is 25 ms of a step
    for stream in (sys.stdout, sys.stderr):  # a cp1252 or C console must not crash on a report
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    as_json = "--json" in args
    try:
        code = cli.main(args=args, prog_name="omh-research", standalone_mode=False)
        if sys.stdout is not None:  # closed by the caller
            sys.stdout.flush()
    except Exception as error:
        _end(error, as_json)
    except KeyboardInterrupt:
        _end(click.Abort(), as_json)
    sys.exit(code if isinstance(code, int) else 0)


def _end(error: Exception, as_json: bool) -> NoReturn:
    """Say in the spec's words how a command failed, and exit with its code."""
    if isinstance(error, OmhError):
        questions = error.questions if isinstance(error, ScopeError) else ()
        _fail(error.code, str(error), error.exit_code, as_json, questions)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        with contextlib.suppress(OSError):
            click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        sys.exit(2)
    if isinstance(error, click.UsageError):
        usage = f"{error.ctx.get_usage()}\n" if error.ctx is not None and not as_json else ""
        _fail(UsageError.code, usage + error.format_message(), 2, as_json)
    if isinstance(error, click.ClickException):
        _fail("error", error.format_message(), 1, as_json)
    if isinstance(error, click.Abort):
        _fail("interrupted", "Interrupted; the run carries on where it stopped.", 130, as_json)
    if isinstance(error, BrokenPipeError):
        _leave_stdout()
        sys.exit(1)
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename else ""
        reason = f"The file system refused{where}: {error.strerror or error}."
        if not where and _is_printing(error):
            _leave_stdout()
            reason = f"Standard output could not be written: {error.strerror or error}."
        _fail(StorageError.code, reason, StorageError.exit_code, as_json)
    from omh_research.cli.render import fault_of

    _fail(OmhError.code, fault_of(error), 1, as_json)


def _is_printing(error: OSError) -> bool:
    """Tell whether the error arose where a result is printed."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") in _PRINTING


def _leave_stdout() -> None:
    """Send what is left to print nowhere: the interpreter would fail on it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _fail(
    code: str, message: str, exit_code: int, as_json: bool, questions: tuple[str, ...] = ()
) -> NoReturn:
    """Say what failed on stderr and exit; `questions` (P7) also go to stdout without --json."""
    import json

    asked = {"questions": list(questions)} if questions else {}
    if as_json:
        plain: dict[str, Any] = {"ok": False, "error": {"code": code, "message": message}, **asked}
        text = json.dumps(plain, ensure_ascii=False)
    else:
        prefix = "" if message.startswith("omh-") else "omh-research: "
        text = "\n".join((prefix + message, *(f"- {question}" for question in questions)))
    with contextlib.suppress(OSError):  # nobody is left to tell
        click.echo(text, err=True)
        if questions and not as_json:
            click.echo(json.dumps(asked, ensure_ascii=False))
    sys.exit(exit_code)
