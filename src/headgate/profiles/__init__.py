"""What two streams are like: rates, ages, frequencies, and which model explains their matches."""

from headgate.profiles.facts import Both, Explains, Pairs, SideRows, Skew, Stored
from headgate.profiles.profile import Profile

__all__ = ["Both", "Explains", "Pairs", "Profile", "SideRows", "Skew", "Stored"]
