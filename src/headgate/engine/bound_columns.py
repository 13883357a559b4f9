"""The columns of a join, resolved in its inputs."""

from dataclasses import dataclass

import pyarrow as pa

from headgate.engine.definitions import Definitions
from headgate.engine.shape import Shape


@dataclass(frozen=True)
class BoundColumns:
    """The columns that `Request.bind` resolved.

    Parameters
    ----------
    shape
        Which columns are what, and in which types they are compared.
    schemas
        Of the left and of the right input.
    definitions
        What is important, as known beforehand; None where all rows count alike.
    """

    shape: Shape
    schemas: tuple[pa.Schema, pa.Schema]
    definitions: Definitions | None = None

    @property
    def result(self) -> pa.Schema:
        """The schema of the result."""
        return self.shape.schema(*self.schemas)
