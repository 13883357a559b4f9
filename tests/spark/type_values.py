"""Every type of Spark, with values that other types have too and values at which types differ."""

NUMBERS = ["0", "1", "-1", "2", "100", "null"]
REALS = ["double('NaN')", "-0.0d", "0.1d", "1.5d", "double('inf')", "double('-inf')"]
LARGE = ["9007199254740992", "9007199254740993", "16777217"]
TEXTS = ["'a'", "'A'", "'a '", "'ä'", "''", "'1'", "null"]
DAYS = ["'2026-03-29'", "'2026-03-30'", "'2026-10-25'", "null"]
MOMENTS = [
    "'2026-03-29 00:00:00'",
    "'2026-03-29 02:30:00'",
    "'2026-03-29 02:30:00.5'",
    "'2026-10-25 02:30:00'",
    "'1969-12-31 23:59:59.999999'",
    "null",
]
STRUCTS = [
    "named_struct('a', 0.0d, 'b', 'x')",
    "named_struct('a', -0.0d, 'b', 'x')",
    "named_struct('a', double('NaN'), 'b', 'x')",
    "named_struct('a', 1.0d, 'b', null)",
    "named_struct('a', null, 'b', null)",
    "null",
]
LISTS = ["array(0)", "array(1, null)", "array(1)", "array()", "null"]
REAL_LISTS = ["array(0.0d)", "array(-0.0d)", "array(double('NaN'))", "array(1.0d, null)", "null"]
TYPES: dict[str, tuple[str, list[str]]] = {
    "tinyint": ("tinyint", NUMBERS),
    "smallint": ("smallint", NUMBERS),
    "int": ("int", [*NUMBERS, "16777216", "16777217"]),
    "bigint": ("bigint", [*NUMBERS, *LARGE, "9223372036854775807"]),
    "float": ("float", [*NUMBERS, *REALS, "16777216", "-1e-9d"]),
    "double": ("double", [*NUMBERS, *REALS, "9007199254740992", "double(float(0.1))"]),
    "decimal_10_2": ("decimal(10,2)", [*NUMBERS, "0.1", "1.5", "16777217"]),
    "decimal_12_4": ("decimal(12,4)", [*NUMBERS, "0.1", "1.5", "0.0001"]),
    "decimal_20_0": ("decimal(20,0)", [*NUMBERS, *LARGE]),
    "decimal_38_10": ("decimal(38,10)", [*NUMBERS, *LARGE, "0.1"]),
    "decimal_38_0": ("decimal(38,0)", [*NUMBERS, *LARGE]),
    "boolean": ("boolean", ["true", "false", "null"]),
    "text": ("string", TEXTS),
    "lcase": ("string collate UTF8_LCASE", TEXTS),
    "unicode_ci": ("string collate UNICODE_CI", TEXTS),
    "rtrim": ("string collate UTF8_BINARY_RTRIM", TEXTS),
    "binary": ("binary", ["X'61'", "X'41'", "X''", "X'00'", "null"]),
    "date": ("date", DAYS),
    "timestamp": ("timestamp", MOMENTS),
    "ntz": ("timestamp_ntz", MOMENTS),
    "day_time": ("interval day to second", ["interval '1' day", "interval '1' second", "null"]),
    "seconds": ("interval second", ["interval '1' second", "interval '90' second", "null"]),
    "year_month": ("interval year to month", ["interval '1' month", "null"]),
    "calendar": ("interval", ["make_interval(0, 1)", "null"]),
    "variant": ("variant", ["1", "null"]),
    "void": ("void", ["null"]),
    "struct_double": ("struct<a:double,b:string>", STRUCTS),
    "struct_float": ("struct<a:float,b:string>", STRUCTS),
    "struct_int": ("struct<a:int,b:string>", [STRUCTS[0], STRUCTS[3], "null"]),
    "struct_other": ("struct<a:double,c:string>", STRUCTS),
    "struct_lcase": ("struct<a:double,b:string collate UTF8_LCASE>", STRUCTS),
    "list_int": ("array<int>", LISTS),
    "list_bigint": ("array<bigint>", LISTS),
    "list_double": ("array<double>", REAL_LISTS),
    "list_ntz": ("array<timestamp_ntz>", ["array('2026-03-29 02:30:00')", "null"]),
    "list_timestamp": ("array<timestamp>", ["array('2026-03-29 02:30:00')", "null"]),
    "map": ("map<int,int>", ["map(1, 1)", "null"]),
}
"""For each type Spark's name of it, and values as SQL: those that other types have too, and those
at which types differ."""
NOT_CARRIED = ("year_month", "calendar", "variant")
"""Types whose values do not come through Arrow, so that they are asked for by name alone."""
ROWS = max(len(values) for _, values in TYPES.values())
