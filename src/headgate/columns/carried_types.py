"""Arrow types that stored rows can carry: rows must be takeable one by one and concatenable."""

import pyarrow as pa


def uncarried(kind: pa.DataType) -> pa.DataType | None:
    """The type itself, or the one inside it, that rows cannot carry; None where they can.

    Arrow has no way yet to take single rows of views and runs.

    Examples
    --------
    >>> print(uncarried(pa.list_(pa.string())))
    None
    >>> print(uncarried(pa.list_(pa.string_view())))
    string_view
    """
    types = pa.types
    if any(
        test(kind)
        for test in (
            types.is_run_end_encoded,
            types.is_string_view,
            types.is_binary_view,
        )
    ):
        return kind
    if isinstance(kind, pa.BaseExtensionType):
        return uncarried(kind.storage_type)
    if types.is_dictionary(kind):
        return uncarried(kind.value_type)
    inside = (kind.field(place).type for place in range(kind.num_fields))
    return next((found for part in inside if (found := uncarried(part)) is not None), None)
