"""Memory prefetching: load cache lines before they are needed.

Keys arrive in random order, so each arrival would wait for its key's chain to load from memory. The
codes of the next arrivals are known, so their chains are prefetched during the current arrival.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils as untyped_cgutils
from numba.core import types
from numba.extending import intrinsic

cgutils: Any = untyped_cgutils


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, _ = signature.args
        view = context.make_array(array_type)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(
            context, builder, array_type, view, [arguments[1]], wraparound=False
        )
        word, address = ir.IntType(32), ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [address, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        flags = [ir.Constant(word, flag) for flag in (0, 3, 1)]  # to read, keep, data
        builder.call(function, [builder.bitcast(place, address), *flags])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch: Any = intrinsic(_prefetch)
"""``prefetch(array, index)`` starts loading the cache line of ``array[index]``."""
