"""What of a result the caller sees, and in words what not. The words name the manifest's members, never a tool's."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gateway.contract.quick import quick
from gateway.manifest.policies import ResultView
from gateway.stages.normalise.text import clean


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Viewed data, and what was left out of it (None: nothing)."""

    data: Any
    truncated: str | None


def view(data: Any, result_view: ResultView) -> View:
    """Select members, cut lists, clean texts, in this order; `data` itself is left as it was."""
    words: list[str] = []
    data = _select(data, result_view.select, words)
    data = _cut(data, result_view, words)
    cleaned = clean(data)
    if cleaned is not data:
        words.append("Control and invisible characters were removed from texts.")
    return View(data=cleaned, truncated=" ".join(words) or None)


def _select(data: Any, select: tuple[str, ...] | None, words: list[str]) -> Any:
    if select is None:
        return data
    if isinstance(data, Mapping):
        selected: Any = _members(data, select)
        left_out = len(selected) < len(data)
    elif isinstance(data, list):
        selected = [_members(item, select) if isinstance(item, Mapping) else item for item in data]
        left_out = any(
            isinstance(item, Mapping) and len(kept) < len(item) for item, kept in zip(data, selected, strict=True)
        )
    else:
        return data
    if left_out:
        words.append(_only_shown(select))
    return selected


@lru_cache(maxsize=4096)
def _only_shown(select: tuple[str, ...]) -> str:
    """A sentence that depends on the manifest alone."""
    return f"Only {_listed(select)} {'is' if len(select) == 1 else 'are'} shown; other members were left out."


def _members(item: Mapping[str, Any], select: tuple[str, ...]) -> dict[str, Any]:
    return {name: item[name] for name in select if name in item}


def _cut(data: Any, result_view: ResultView, words: list[str]) -> Any:
    bound = result_view.max_items
    if bound is None:
        return data
    if isinstance(data, list) and len(data) > bound:
        words.append(f"Only the first {bound} of {len(data)} items are shown.")
        return data[:bound]
    if isinstance(data, Mapping) and any(isinstance(m, list) and len(m) > bound for m in data.values()):
        cut = dict(data)
        for name, member in data.items():
            if isinstance(member, list) and len(member) > bound:
                cut[name] = member[:bound]
                where = f"of {name}" if result_view.select and name in result_view.select else "of a list in it"
                words.append(f"Only the first {bound} of {len(member)} items {where} are shown.")
        return cut
    return data


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
