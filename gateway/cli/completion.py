"""`oncegate completion`."""

import click
from click.shell_completion import get_completion_class

from gateway.cli.exits import EXIT_HELP, Exit, Failure


@click.command(epilog=EXIT_HELP)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, *, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    oncegate completion bash > ~/.local/share/bash-completion/completions/oncegate
    oncegate completion zsh > ~/.zfunc/_oncegate
    oncegate completion fish > ~/.config/fish/completions/oncegate.fish
    """  # noqa: D301 - click's mark for lines that stay lines
    kind = get_completion_class(shell)
    root = ctx.find_root()
    if kind is None:
        raise Failure(f"there is no completion for {shell}.", Exit.USAGE)
    click.echo(kind(root.command, {}, "oncegate", "_ONCEGATE_COMPLETE").source())
