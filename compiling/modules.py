"""Which modules are compiled: those whose code runs in a call, except those that mypyc cannot compile.

`inspect.iscoroutinefunction` is false of a compiled coroutine function. Starlette asks that of its routes, so they are not compiled.
"""

from pathlib import Path
from typing import Final

_PASSED: Final = (
    "gateway/at_rest",
    "gateway/adapters/cel",
    "gateway/adapters/files",
    "gateway/adapters/http_tool",
    "gateway/adapters/memory",
    "gateway/adapters/otel",
    "gateway/adapters/redis",
    "gateway/adapters/sqlite",
    "gateway/adapters/system",
    "gateway/contract",
    "gateway/fronts/http",
    "gateway/manifest",
    "gateway/pipeline",
    "gateway/stages",
)
_ROUTES: Final = "Starlette would take its coroutines for functions"
LEFT_OUT: Final = {
    "gateway/adapters/memory/operations.py": "for tests",
    "gateway/adapters/redis/cluster.py": "asks beside calls",
    "gateway/adapters/redis/guides.py": "asks beside calls",
    "gateway/adapters/redis/lists.py": "an async generator",
    "gateway/adapters/redis/names.py": "asks beside calls",
    "gateway/adapters/redis/routes.py": "a parameter that is deleted",
    "gateway/adapters/redis/sentinels.py": "a parameter that is deleted",
    "gateway/adapters/system/clock.py": "functions as class attributes",
    "gateway/adapters/http_tool/httpx_face.py": "an async generator",
    "gateway/adapters/http_tool/over_httpx.py": "waits in `finally`",
    "gateway/adapters/otel/exporters.py": "begins and ends with the process",
    "gateway/adapters/otel/otlp.py": "begins and ends with the process",
    "gateway/adapters/otel/prometheus.py": "another type for one name",
    "gateway/fronts/http/approvals.py": _ROUTES,
    "gateway/fronts/http/build.py": _ROUTES,
    "gateway/fronts/http/catalogue.py": _ROUTES,
    "gateway/fronts/http/gate.py": _ROUTES,
    "gateway/fronts/http/health.py": _ROUTES,
    "gateway/fronts/http/records.py": _ROUTES,
    "gateway/fronts/http/openapi.py": "a document, made once",
    "gateway/fronts/http/openapi_schemas.py": "a document, made once",
    "gateway/fronts/http/strict_schema.py": "a document, made once",
    "gateway/fronts/http/server.py": "what uvicorn says of its sockets is not what they are",
    "gateway/pipeline/sweeping.py": "waits in `finally`",
    "gateway/manifest/yaml_events.py": "a lone surrogate in a literal",
}
"""Module -> why not."""
_AT_LOAD: Final = ("lint", "openapi", "format_schema", "reading", "yaml")
"""Words of the names of modules that only loading a manifest needs."""


def chosen(root: Path) -> list[str]:
    """The modules to compile, as paths below `root`."""
    found = (path for package in _PASSED for path in sorted((root / package).rglob("*.py")))
    return [
        name
        for path in found
        if (name := path.relative_to(root).as_posix()) not in LEFT_OUT
        and path.name != "__init__.py"
        and not any(
            word in name.removeprefix("gateway/manifest/") for word in _AT_LOAD if name.startswith("gateway/manifest/")
        )
        and "pydantic" not in path.read_text(encoding="utf-8")
    ]
