"""``headgate doctor``: what is there, what is missing, what it costs, and the line to add."""

import json
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from headgate.cli.installation import has_spark, installed_findings
from headgate.report.finding import Finding, Verdict, is_ready

MARKS = {
    Verdict.FINE: ("✓", "green"),
    Verdict.SLOW: ("!", "yellow"),
    Verdict.UNSET: ("!", "yellow"),
    Verdict.MISSING: ("✗", "red"),
    Verdict.ABSENT: ("·", "dim"),
}
INSTALLED, SESSION = "Installed", "A session as it is started here"


def run(remote: str | None, with_spark: bool, as_json: bool, console: Console) -> int:
    """Examine, and print; the exit status is 1 where something needed is missing."""
    parts = {INSTALLED: installed_findings(remote is not None and not remote.startswith("local"))}
    if with_spark and has_spark(parts[INSTALLED]):
        waiting = nullcontext() if as_json else console.status("starting Spark to look at it…")
        with waiting:
            parts[SESSION] = _examined(remote)
    findings = [finding for part in parts.values() for finding in part]
    ready = is_ready(findings)
    if as_json:
        told = {name: [each.as_dict() for each in part] for name, part in parts.items()}
        console.print_json(json.dumps({"ready": ready, "findings": told}))
    else:
        for title, part in parts.items():
            console.print(_shown(title, part))
        console.print(_summary(findings, ready))
    return 0 if ready else 1


def _examined(remote: str | None) -> list[Finding]:
    """Start a session as a program would, without Headgate's settings, and look at it."""
    from headgate.spark.session import plain_session
    from headgate.spark.session_report import session_findings
    from headgate.spark.sources import is_sparks, said_by

    log = Path(tempfile.mkdtemp(prefix="headgate-doctor-")) / "spark.log"
    session: Any = None
    try:
        session = plain_session(remote, log)
        return session_findings(session)
    except Exception as error:
        if not is_sparks(error) and not isinstance(error, RuntimeError):
            raise
        line = f"Spark's log: {log}" if log.exists() else ""
        return [Finding("session", "does not start", Verdict.MISSING, said_by(error), line)]
    finally:
        if session is not None:
            session.stop()


def _shown(title: str, findings: list[Finding]) -> Group:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=1)
    table.add_column(min_width=20)
    table.add_column(overflow="fold")
    for finding in findings:
        mark, colour = MARKS[finding.verdict]
        told = Text(finding.found)
        quiet = "dim" if finding.verdict == Verdict.ABSENT else ""
        if finding.costs:
            told.append(f"\n{finding.costs}", style=quiet or colour)
        if finding.add:
            told.append(f"\n→ {finding.add}", style=quiet or "bold")
        table.add_row(Text(mark, style=colour), Text(finding.name, style=quiet), told)
    return Group(Text(title, style="bold"), table, Text(""))


def _summary(findings: list[Finding], ready: bool) -> Text:
    verdicts = [finding.verdict for finding in findings]
    if not ready:
        count = verdicts.count(Verdict.MISSING)
        what = "thing that is needed is" if count == 1 else "things that are needed are"
        return Text(f"Not ready: {count} {what} missing.", style="red")
    needed = [each.add for each in findings if each.verdict in (Verdict.UNSET, Verdict.SLOW)]
    if needed:
        return Text(f"Ready, after {' and '.join(dict.fromkeys(needed))}.", style="yellow")
    return Text("Ready.", style="green")
