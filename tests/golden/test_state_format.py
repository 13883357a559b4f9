"""State can be read by what docs/reference/state-format.md says alone, which names all of it."""

import json
import re
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from headgate.spark.state.blobs import FORMAT, OLDEST
from headgate.spark.state.shard_store import VARIABLES
from tests.golden.checkpoint_cases import FOLDER, KINDS
from tests.golden.shard_states import MORE_KINDS, read_states

pytestmark = pytest.mark.spark

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "state-format.md").read_text()


def names_in(section: str, table: int = 0) -> set[str]:
    """What the first column of a table of a section names."""
    text = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (body,) = (part for part in text if part.startswith(f"{section}\n"))
    found = re.findall(r"(?:^\|.*\n)+", body, re.MULTILINE)[table].splitlines()[2:]
    return {name for line in found for name in re.findall(r"`([^`]+)`", line.split("|")[1])}


def read_blob(blob: bytes, checked: bool = True) -> pa.Table:
    """Read a blob as the page says."""
    assert blob[:2] == b"HG"
    assert int.from_bytes(blob[2:4], "little") == FORMAT
    assert (int.from_bytes(blob[4:8], "little") == (zlib.crc32(blob[8:]) or 1)) == checked
    return pa.ipc.open_stream(blob[8:]).read_all()


def head_of(state: dict[str, Any]) -> tuple[pa.Table, dict[str, Any]]:
    table = read_blob(bytes(state["head"][0]))
    return table, json.loads(table.schema.metadata[b"facts"])


@pytest.mark.parametrize("kind", [*KINDS, *MORE_KINDS])
def test_a_shard_is_read_as_the_page_says(kind: str) -> None:
    state = read_states(FOLDER / f"format-{FORMAT}" / "states.zip")[kind]
    table, facts = head_of(state)
    assert set(table.column_names) == names_in("Head")
    assert set(facts) == names_in("Head", 1)
    assert set(json.loads(facts["description"])) == names_in("Description")
    assert facts["watermark"] == state["watermark"][0]
    listed = {(line["name"], part) for line in table.to_pylist() for part in range(line["parts"])}
    filters = [each for each in facts["given_up"] or () if each is not None]
    listed |= {(name, part) for name, parts, _ in filters for part in range(parts)}
    assert listed == set(state["segments"])
    for line in table.to_pylist():
        whole = b"".join(
            bytes(state["segments"][line["name"], part][0]) for part in range(line["parts"])
        )
        assert zlib.crc32(whole) == line["checksum"]
        assert whole[4:8] == bytes(4)
        segment = read_blob(whole, checked=False)
        assert segment.num_rows == line["rows"]
        assert "__headgate_sequence" in segment.column_names


def test_the_page_has_the_variables_and_formats_of_the_code() -> None:
    assert names_in("State variables") == {name for name, *_ in VARIABLES} | {"control"}
    assert f"The current format is **{FORMAT}**" in PAGE
    assert f"reads formats {OLDEST} and {FORMAT} and writes {FORMAT}" in PAGE
