"""``python -m headgate`` is the ``headgate`` command."""

from headgate.cli.main import app

app(prog_name="headgate")
