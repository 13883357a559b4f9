"""Policies that know the whole input beforehand: yardsticks for those that do not."""

from headgate.policies.offline.lfd import Lfd

__all__ = ["Lfd"]
