"""Options and paths of a job: texts with environment variables substituted.

Passwords stay out of the file, and substituted values are never shown: a setting is shown as it is
written.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.jobs.job_section import JobSection
from headgate.jobs.lines import Path
from headgate.jobs.problems import Problems

_SECRET = re.compile(r"pass(word|phrase|wd)|secret|access.?key|account.?key|jaas", re.IGNORECASE)
_HIDDEN = re.compile(rf"{_SECRET.pattern}|token|credential|private.?key", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(\$\{|\{([^}]*)\})")
SHORT = 4
"""Characters."""
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class JobSetting:
    """A text of the file, as written and with variables substituted.

    Examples
    --------
    >>> JobSetting("${HOME}/data", "/root/data")
    JobSetting(written='${HOME}/data')
    """

    written: str
    value: str = field(repr=False)
    variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """What was filled in: names and values."""


Settings = Mapping[str, JobSetting]


def shown(name: str, setting: JobSetting) -> str:
    """Show a setting as it is written, or masked if its name suggests a secret.

    Examples
    --------
    >>> shown("topic", JobSetting("bids", "bids")), shown("sas.token", JobSetting("abc", "abc"))
    ('bids', '***')
    """
    if _HIDDEN.search(name) and not setting.variables:
        return "***"
    return setting.written


def scrubbed(message: str, settings: Settings) -> str:
    """Remove substituted values, and values whose names suggest a secret, from a message."""
    for name, setting in settings.items():
        hidden = _HIDDEN.search(name) is not None
        for variable, value in setting.variables:
            # A short value that is not secret occurs in too many words to be worth hiding.
            if value and (hidden or len(value) >= SHORT):
                message = message.replace(value, f"${{{variable}}}")
        if hidden and not setting.variables and setting.value:
            message = message.replace(setting.value, "***")
    return message


@dataclass(frozen=True)
class Environment:
    """The variables that settings may name."""

    variables: Mapping[str, str]

    def fill(self, written: str, path: Path, problems: Problems) -> JobSetting:
        """Substitute ``${NAME}``, and ``${`` for ``$${``; report variables that are not set."""

        filled: dict[str, str] = {}

        def found(match: re.Match[str]) -> str:
            name = match.group(2)
            if name is None:
                return "${"
            if not _NAME.fullmatch(name):
                problems.note(path, f"${{{name}}} is not a variable: write ${{NAME}}, or $${{...")
            elif name not in self.variables:
                problems.note(
                    path,
                    f"the environment variable {name} is not set: set it before the job is "
                    f"started (for a dollar sign before a brace, write $${{)",
                )
            else:
                return filled.setdefault(name, self.variables[name])
            return ""

        value = _VARIABLE.sub(found, written)
        return JobSetting(written, value, tuple(filled.items()))

    def text(self, section: JobSection, name: str, give: str, required: bool) -> JobSetting | None:
        """Read a text of a section, with variables substituted."""
        written = section.text(name, give, required)
        if written is None:
            return None
        return self.fill(written, section.at(name), section.problems)

    def options(self, section: JobSection, name: str) -> dict[str, JobSetting]:
        """Read a table of options, whose names are Spark's or a connector's."""
        table = section.section(name, 'options, such as { header = true, sep = ";" }')
        return {} if table is None else self.flat(table)

    def flat(self, table: JobSection) -> dict[str, JobSetting]:
        """All settings of a table; dotted names may be quoted or not."""
        settings: dict[str, JobSetting] = {}
        for path, value in _leaves(table.items(), table.path):
            name = ".".join(str(part) for part in path[len(table.path) :])
            if not isinstance(value, str | int | float):
                table.problems.note(path, f"{name} is not accepted: give a text, number or truth")
            elif _SECRET.search(name) and "${" not in str(value):
                table.problems.note(
                    path,
                    f"{name} looks like a secret, and secrets must not stand in a file: put it "
                    f'into an environment variable and write "${{ITS_NAME}}"',
                )
            else:
                settings[name] = self.fill(_spelled(value), path, table.problems)
        return settings


def _leaves(values: Mapping[str, Any], path: Path) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []
    for name, value in values.items():
        here = (*path, name)
        found += _leaves(value, here) if isinstance(value, dict) else [(here, value)]
    return found


def _spelled(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
