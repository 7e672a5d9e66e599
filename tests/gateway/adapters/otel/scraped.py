"""A strict reader of the Prometheus text format 0.0.4, for what a lenient scraper would forgive."""

import re
from dataclasses import dataclass, field

_NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (-?[0-9.eE+-]+)")
_LABEL = re.compile(rf'({_NAME})="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)')
_SUFFIXES = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}

LabelSet = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Family:
    """One metric of a scrape: its type, and the value of each sample by name and labels."""

    kind: str
    samples: dict[tuple[str, LabelSet], float] = field(default_factory=dict)


class ScrapeError(AssertionError):
    """The text is not valid, or says something twice."""


def read_scrape(body: bytes) -> dict[str, Family]:
    """All families by name.

    Raises:
        ScrapeError: a line is malformed or misplaced, a sample is repeated, or a histogram does not add up.
    """
    text = body.decode()
    if not text.endswith("\n"):
        raise ScrapeError("no newline at the end")
    families: dict[str, Family] = {}
    helped: str | None = None
    current = ""
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            helped = line.split(" ")[2]
        elif line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            if current != helped or current in families or kind not in _SUFFIXES:
                raise ScrapeError(line)
            families[current] = Family(kind)
        else:
            _sample(families[current], current, line)
    for name, family in families.items():
        if family.kind == "histogram":
            _adds_up(name, family)
    return families


def _sample(family: Family, name: str, line: str) -> None:
    found = _SAMPLE.fullmatch(line)
    if found is None or found[1] not in {name + suffix for suffix in _SUFFIXES[family.kind]}:
        raise ScrapeError(line)
    inside = found[2] or ""
    labels = tuple(_LABEL.findall(inside))
    if _LABEL.sub("", inside) or len(dict(labels)) != len(labels) or (found[1], labels) in family.samples:
        raise ScrapeError(line)
    if family.kind == "counter" and not name.endswith("_total"):
        raise ScrapeError(f"{name} is a counter")
    family.samples[found[1], labels] = float(found[3])


def _adds_up(name: str, family: Family) -> None:
    series: dict[LabelSet, list[tuple[str, float]]] = {}
    for (sample, labels), value in family.samples.items():
        if sample == name + "_bucket":
            without = tuple(pair for pair in labels if pair[0] != "le")
            series.setdefault(without, []).append((dict(labels)["le"], value))
    for labels, buckets in series.items():
        bounds = [float(le.replace("+Inf", "inf")) for le, _ in buckets]
        counts = [count for _, count in buckets]
        total = family.samples[name + "_count", labels]
        if bounds != sorted(bounds) or bounds[-1] != float("inf") or counts != sorted(counts) or counts[-1] != total:
            raise ScrapeError(f"{name}{labels}")
        if (name + "_sum", labels) not in family.samples:
            raise ScrapeError(f"{name}{labels} has no sum")
