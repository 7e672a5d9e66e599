"""The table of commands, and the one place where an error becomes a sentence and an exit code."""

import contextlib
import difflib
import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from gateway.cli.exits import EXIT_HELP, Exit, Failure, let_go
from gateway.cli.interrupts import SAID, ignore, listen

# Name -> the module that has it as `command`, and its line in `oncegate --help`.
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "demo": ("gateway.cli.demo", "The refund incident, without and with OnceGate; then an agent."),
    "serve": ("gateway.cli.serve", "Run the gateway."),
    "check": ("gateway.cli.check", "Explain what is wrong with tool manifests, and how to mend it."),
    "import": ("gateway.cli.importing", "Draft manifests from an OpenAPI document or an MCP server."),
    "certify": ("gateway.cli.certify", "Hold what a manifest says of its downstream against staging."),
    "schema": ("gateway.cli.schema", "Print the JSON Schema of manifests, or the OpenAPI document."),
    "tools": ("gateway.cli.tools", "List the tools a key may use, or show one."),
    "call": ("gateway.cli.call", "Call a tool through a gateway."),
    "prepare": ("gateway.cli.prepare", "Validate and authorise a call; execute nothing."),
    "mcp": ("gateway.cli.mcp", "Speak MCP on standard input and output, for desktop clients."),
    "operations": ("gateway.cli.operations", "List, show, reconcile, settle and forget operations."),
    "approvals": ("gateway.cli.approvals", "List, show, approve and deny what waits for a person."),
    "breakers": ("gateway.cli.breakers", "List circuit breakers; keep one open or closed for a time."),
    "executions": ("gateway.cli.executions", "One row for every answer the gateway gave."),
    "report": ("gateway.cli.report", "Four signals per tool: outcomes, latency, retries, cost."),
    "timeouts": ("gateway.cli.timeouts", "Which timeouts are too short, or longer than they need be."),
    "runs": ("gateway.cli.runs.group", "List, show, replay and evaluate the tasks of agents."),
    "keys": ("gateway.cli.keys", "Create, list and revoke API keys."),
    "config": ("gateway.cli.config", "Show the settings in force and where each comes from."),
    "completion": ("gateway.cli.completion", "Print the completion script for a shell."),
    "version": ("gateway.cli.version", "Print the version."),
}
_PROGRAM: Final = "oncegate"


class LazyGroup(click.Group):
    """Knows its commands' names and lines; imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = importlib.import_module(entry[0]).command
        listen()
        assert isinstance(command, click.Command)  # noqa: S101 - the table's own promise, held by a test
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; `help` and `help COMMAND` are what is typed where there is no such command."""
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the command that was probably meant."""
        if (near := difflib.get_close_matches(args[0], COMMANDS, n=1)) and args[0] not in COMMANDS:
            ctx.fail(f"No such command {args[0]!r}; did you mean `{near[0]}`?")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **named: Any) -> click.Context:
        """As click does, with the ends of `invoke`: this is where `--help` prints."""
        with _ends():
            return super().make_context(*args, **named)

    def invoke(self, ctx: click.Context) -> object:
        """As click does, but for ends to which click gives 1, which would say that nothing was executed."""
        with _ends():
            return super().invoke(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The table again: click's own would import every command for a press of the tab key."""
        own = [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        return own + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@contextlib.contextmanager
def _ends() -> Iterator[None]:
    """An interruption and a reader that has gone have codes of their own."""
    try:
        yield
    except KeyboardInterrupt:
        raise _interrupted() from None
    except click.Abort as abort:
        # click's prompts make Abort of Ctrl-C, as of a no.
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise _interrupted() from None
        raise
    except BrokenPipeError:
        let_go(sys.stdout)
        raise click.exceptions.Exit(Exit.CLOSED) from None


def _interrupted() -> Failure:
    return Failure(SAID, Exit.INTERRUPTED)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if wanted:
        ctx.exit(importlib.import_module(COMMANDS["version"][0]).command.main([], standalone_mode=False))


@click.group(
    cls=LazyGroup, epilog=EXIT_HELP, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version and exit."
)
def oncegate() -> None:
    """A gateway between agents and their tools: each action once, and never a claim about what nobody knows.

    \b
    oncegate demo                              see it work
    oncegate check tool_manifests              are these manifests safe?
    oncegate serve --manifests tool_manifests --manifest-env PAYMENTS_URL
                                               run it
    oncegate call lookup_order order_id=ORD-1  use it (ONCEGATE_URL, ONCEGATE_KEY)
    """  # noqa: D301 - click's mark for lines that stay lines


def main(arguments: list[str] | None = None) -> None:
    """Run one command line and exit with its code; see `gateway.cli.exits`."""
    try:
        oncegate.main(args=arguments, prog_name=_PROGRAM)
    except ModuleNotFoundError:
        raise  # what is not installed is no fault: `gateway.cli.main` says it
    except Exception as error:
        if os.environ.get("ONCEGATE_DEBUG"):
            raise
        failure = Failure(
            f"{type(error).__name__}: {error} (a fault of oncegate; ONCEGATE_DEBUG=1 shows where)", Exit.FAULT
        )
        failure.show()
        sys.exit(failure.exit_code)
    finally:
        ignore()
