"""What the control shard keeps: the join's description, with a checksum."""

import json
import zlib

from headgate.spark.state.blobs import damaged


def control_text(description: str) -> str:
    """The text for a description.

    Examples
    --------
    >>> read_control(control_text('{"shards": "2"}'))
    '{"shards": "2"}'
    """
    checksum = zlib.crc32(description.encode())
    return json.dumps({"checksum": checksum, "description": description})


def read_control(text: str) -> str:
    """The description in a text; in format 6 that is the text itself."""
    what = "the join's description, on the control shard,"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(what, f"it is no JSON ({error})") from error
    if isinstance(found, dict) and set(found) != {"checksum", "description"}:
        if "shards" in found:
            return text
        raise damaged(what, "it has neither a checksum nor the number of shards")
    described = found["description"] if isinstance(found, dict) else None
    # A text that is no Unicode was never written.
    if (
        not isinstance(described, str)
        or zlib.crc32(described.encode("utf-8", "replace")) != found["checksum"]
    ):
        raise damaged(what, "it does not have the checksum that it says")
    return described
