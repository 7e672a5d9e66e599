"""A document for `oncegate import`: a file with those beside it, or one answer from a server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gateway.cli.addresses import refuse_credentials
from gateway.cli.exits import Exit, Failure
from gateway.manifest.openapi.document import MAX_BYTES

_TIMEOUT_S: Final = 30.0


def files_of(source: str) -> tuple[str, Mapping[str, bytes]]:
    """The document's name, and the files that it may refer to, each as `openapi/NAME`.

    Raises:
        Failure: there is no such file, or the server did not give one.
    """
    if source.startswith(("http://", "https://")):
        name = Path(urlsplit(source).path).name or "openapi.json"
        return name, {f"openapi/{name}": _fetched(source)}
    from gateway.adapters.files.documents import DocumentFolder  # noqa: PLC0415 - a URL needs none

    path = Path(source)
    if not path.is_file():
        raise Failure(f"{source}: there is no such file.", Exit.USAGE)
    folder = DocumentFolder(path.parent)
    if f"openapi/{path.name}" not in folder:
        raise Failure(f"{source}: the file cannot be read.", Exit.USAGE)
    return path.name, folder


def _fetched(url: str) -> bytes:
    """One GET of what the operator named: no redirect, no proxy, bounded."""
    import httpx  # noqa: PLC0415 - a file needs none

    refuse_credentials("the document's URL", url)
    body = bytearray()
    try:
        with (
            httpx.Client(timeout=_TIMEOUT_S, trust_env=False, follow_redirects=False) as client,
            client.stream("GET", url, headers={"Accept-Encoding": "identity"}) as answer,
        ):
            if answer.status_code != 200:
                raise Failure(f"{url} answered {answer.status_code}; only 200 has a document.", Exit.NO)
            if answer.headers.get("content-encoding", "identity") != "identity":
                raise Failure(f"{url} answered compressed, which was not asked for.", Exit.NO)
            for chunk in answer.iter_raw():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise Failure(f"{url} has more than {MAX_BYTES // 2**20} MiB.", Exit.NO)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Failure(f"{url} cannot be fetched: {type(error).__name__}.", Exit.UNREACHABLE) from None
    return bytes(body)
