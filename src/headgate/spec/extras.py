"""Which optional packages belong to which extra of Headgate."""

EXTRAS = {
    "spark": ("pyspark", "py4j", "google"),
    "cli": ("matplotlib", "rich", "typer", "tree_sitter", "tree_sitter_toml", "psutil"),
    "offline": ("ortools",),
    "importance": ("sqlglot",),
    "lookup": ("duckdb", "psycopg"),
    "jit": ("numba", "llvmlite"),
    "watch": ("starlette", "uvicorn", "prometheus_client"),
    "telemetry": ("opentelemetry",),
}


def to_install(module: str) -> str:
    """What to type to get a module that is missing.

    Examples
    --------
    >>> to_install("ortools.graph.python")
    'pip install "headgate[offline]"'
    >>> to_install("polars")
    'pip install polars'
    """
    package = module.partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return f'pip install "headgate[{extra}]"'
    return f"pip install {package}"
