"""Profiles of two streams: rates, ages, frequencies, and the model that explains their matches."""

from headgate.profiles.facts import Both, Explains, Pairs, SideRows, Skew, Stored
from headgate.profiles.profile import Profile

__all__ = ["Both", "Explains", "Pairs", "Profile", "SideRows", "Skew", "Stored"]
