"""Lets compiled functions run as plain Python, where ``HEADGATE_KERNEL=python`` is set.

Compiled code reaches the fields of records as attributes, and uses machine instructions that
Python does not have.
"""

import importlib
import pkgutil
import sys
from typing import Any

import numpy as np

import headgate
from headgate.compiling.instructions import Instruction

PACKAGES = ("columns", "models", "policies", "sampling", "kernel", "learning", "engine", "trials")
WORD = (1 << 64) - 1


class Fields(np.void):
    """A record with its fields as attributes, also those named like one that NumPy has."""

    def __getattribute__(self, name: str) -> Any:
        fields = np.void.__getattribute__(self, "dtype").names
        return self[name] if name in fields else np.void.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def run_uncompiled() -> None:
    """Change the modules of Headgate for this process."""
    for package in PACKAGES:
        path = [f"{folder}/{package}" for folder in headgate.__path__]
        for module in pkgutil.walk_packages(path, f"headgate.{package}."):
            importlib.import_module(module.name)
    ours = [module for name, module in sys.modules.items() if name.startswith("headgate")]
    for module in ours:
        for name, value in vars(module).copy().items():
            if isinstance(value, np.dtype) and value.names:
                setattr(module, name, np.dtype((Fields, value)))
            elif isinstance(value, Instruction):
                setattr(module, name, PLAIN[value.name])
    # Numbers wrap around on purpose, and division by zero is infinite, as in compiled code.
    np.seterr(over="ignore", divide="ignore", invalid="ignore")


def prefetch(array: np.ndarray, index: Any) -> None:
    """Nothing is loaded ahead."""


def trailing_zeros(word: Any) -> int:
    word = int(word) & WORD
    return (word & -word).bit_length() - 1


def leading_zeros(word: Any) -> int:
    return 64 - (int(word) & WORD).bit_length()


def call_score(score: Any, one: Any, two: Any, three: Any, parameter: Any) -> Any:
    """Here the address is the function."""
    return score(one, two, three, parameter)


PLAIN = {part.__name__: part for part in (prefetch, trailing_zeros, leading_zeros, call_score)}
"""What stands for single machine instructions."""
