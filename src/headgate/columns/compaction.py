"""Copies rows into buffers of their own, so that kept rows do not keep others alive."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.columns.row_source import RowSource


def compacted(table: pa.Table, place: np.ndarray) -> pa.Table:
    """Some rows of a table, in buffers that hold nothing else.

    A slice, however small, keeps alive all that its buffers hold, and so does an index into a
    dictionary. The copy holds neither: of a dictionary it has the values that its rows use.

    Examples
    --------
    >>> many = pa.table({"n": range(1_000_000)})
    >>> many.slice(5, 1).get_total_buffer_size()
    8000000
    >>> compacted(many, np.array([5])).get_total_buffer_size()
    8
    """
    return trimmed(RowSource(table).take_all(place))


def trimmed(table: pa.Table) -> pa.Table:
    """The table with dictionaries that list no other values than its rows have."""
    columns = [
        _without_unused(column) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, schema=table.schema)


def _without_unused(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([_used(chunk) for chunk in column.chunks], column.type)


def _used(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same values with a dictionary of only those in use."""
    indices = array.indices.cast(pa.int64())
    used = np.unique(indices.drop_null().to_numpy())
    # A null gets an arbitrary index, and stays null.
    place = np.searchsorted(used, pc.fill_null(indices, 0).to_numpy())
    nulls = indices.is_null().to_numpy(zero_copy_only=False)
    return pa.DictionaryArray.from_arrays(
        pa.array(place, array.type.index_type, mask=nulls),
        array.dictionary.take(pa.array(used)),
        ordered=array.type.ordered,
    )
