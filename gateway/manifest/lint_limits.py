"""Rules about rates and costs: a limit that nothing could ever reach is one that its author was wrong about."""

from collections.abc import Callable
from typing import Final

from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.policies import Rate
from gateway.manifest.yaml_events import Path

_LEVELS: Final = ("rate", "tenant_rate", "total_rate")
"""Each counts at least the calls that the one before it counts."""
_UNITS: Final = {1.0: "s", 60.0: "m", 3600.0: "h", 86400.0: "d"}


def _rates_matter(source: ManifestSource, notes: Notes) -> None:
    written = [(level, index, one) for level in _LEVELS for index, one in enumerate(getattr(source.limits, level))]
    for level, index, one in written:
        path: Path = ("limits", level, index) if notes.has("limits", level, index) else ("limits", level)
        twins = [at for other, at, it in written if other == level and it.per_s == one.per_s]
        if index > twins[0]:
            notes.error(path, "shape", f"`{level}` has two rates per `{_UNITS[one.per_s]}`; keep the lower one")
            continue
        for other_level, at, other in written:
            if _LEVELS.index(other_level) < _LEVELS.index(level) or (other_level == level and at in twins):
                continue
            if _never_reached(one, other):
                message = (
                    f"`{level}: {_text(one)}` would never be reached, because `{other_level}: {_text(other)}` refuses"
                    " first; lower it, or remove it"
                )
                notes.error(path, "no-effect", message)
                break


def _cost_fits(source: ManifestSource, notes: Notes) -> None:
    cost = source.cost
    if cost is None or cost.per_run is None:
        return
    path = ("cost", "per_run")
    if cost.per_call == 0:
        notes.error(path, "no-effect", "a call that costs nothing never reaches a budget; remove `per_run`")
    elif cost.per_call > cost.per_run:
        message = f"no call would ever be within it, because one costs {cost.per_call:g}; raise `per_run`"
        notes.error(path, "limits", message)


def _never_reached(one: Rate, other: Rate) -> bool:
    """As token buckets: `other` holds no more and refills no faster, so it is empty whenever `one` is."""
    return other.count <= one.count and other.count / other.per_s <= one.count / one.per_s


def _text(rate: Rate) -> str:
    return f"{rate.count}/{_UNITS[rate.per_s]}"


LIMIT_RULES: Final[tuple[Callable[[ManifestSource, Notes], None], ...]] = (_rates_matter, _cost_fits)
