"""`discreet studio`: a page on this machine to look at data and protect it."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli import _options as options
from discreet.cli._command import command

_EPILOG = """\b
Examples:
  discreet studio
  discreet studio data/
  discreet studio --demo"""


@command(short_help="Look at data and protect it in a browser.", epilog=_EPILOG)
@click.argument("files", type=click.Path(path_type=Path), required=False)
@click.option("--demo", is_flag=True, help="Open the embedded sample, a hospital in which nobody exists.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; a free one by default.")
@click.option(
    "--keep",
    type=options.DATA,
    metavar="DIR",
    help="Write into this new folder and leave it there; by default a private one that is removed at the end.",
)
@click.option("--no-browser", is_flag=True, help="Show the address, and open no browser.")
def studio(files: Path | None, demo: bool, port: int, keep: Path | None, no_browser: bool) -> None:
    """Serve the studio to the browser on this machine, and to nobody else; Ctrl-C ends it.

    FILES is a folder whose files are offered; others can be dropped onto the page. The address that is shown has a
    token: whoever has it can use the studio while it runs.
    """
    import webbrowser
    from contextlib import suppress

    from discreet.cli._startup import Interrupted
    from discreet.core.errors import InputError

    try:
        from discreet.studio.serving import StudioServer
    except ImportError:
        missing = InputError("The studio needs its packages.")
        missing.remedy = "pip install 'discreet[studio]'"
        raise missing from None

    server = StudioServer(port=port, files=files, keep=keep)
    if demo:
        server.open_sample()
    # A signal is how it ends, and no failure.
    with suppress(Interrupted):
        click.echo(f"studio   {server.address}")
        click.echo("         only this machine can reach it; Ctrl-C ends it")
        click.echo(f"folder   {server.folder}")
        if not no_browser:
            webbrowser.open(server.address_once)
        server.run()
