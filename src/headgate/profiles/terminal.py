"""A profile in the terminal, as Rich tables."""

from rich.console import Group

from headgate.profiles.profile import Profile
from headgate.profiles.profile_report import sections


def as_tables(profile: Profile) -> Group:
    """The report's sections, one table each."""
    return Group(*(part for section in sections(profile) for part in section.shown()))
