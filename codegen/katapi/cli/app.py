"""All commands, and how errors leave the program: one message on stderr, never a traceback."""

from __future__ import annotations

import os
import sys

import typer

from katapi.cli import artifacts, batching, comparing, diffing, importing, inspecting, models, packs, specs
from katapi.cli.failure import Failed
from katapi.cli.terminal import visible
from katapi.runtime.errors import KatapiError
from katapi.runtime.record import katapi_version

app = typer.Typer(
    name="katapi",
    help="Declare a language model's input layer, compile it, run it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("build")(specs.build)
app.command("check")(specs.check)
app.command("fmt")(specs.fmt)
app.command("init")(specs.init)
app.command("fetch")(artifacts.fetch)
app.add_typer(importing.app, name="import")
app.command("compare")(comparing.compare)
app.command("models")(models.models)
app.command("images")(models.images)
app.command("assemble")(models.assemble)
app.command("batch")(batching.batch)
app.command("render")(models.render)
app.command("inspect")(inspecting.inspect)
app.command("tokenize")(models.tokenize)
app.command("detokenize")(models.detokenize)
app.command("parse")(models.parse)
app.command("record")(packs.record)
app.command("replay")(packs.replay)
app.command("diff")(diffing.diff)
app.command("foreign")(diffing.foreign)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"katapi {katapi_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Declare a language model's input layer, compile it, run it."""


def run() -> int:
    """Runs one command and gives its exit status; typer itself ends the program on a usage error, with status 2."""
    try:
        app(args=packs.spelled_out(sys.argv[1:]))
    except KatapiError as error:
        typer.echo(visible(f"katapi: {error}"), err=True)
        return 1
    except Failed as error:
        typer.echo(visible(str(error)), err=True)
        return 1
    except UnicodeError as error:
        typer.echo(f"katapi: an argument or a text cannot be encoded: {error}", err=True)
        return 1
    except BrokenPipeError:
        # The reader went away (`| head`); what is left in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        typer.echo(f"katapi: {error.filename or 'output'}: {error.strerror or error}", err=True)
        return 1
    return 0
