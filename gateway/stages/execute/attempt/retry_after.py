"""Retry-After in all its forms (RFC 9110 10.2.3), as seconds from now."""

import calendar
import re
from typing import Final

LONGEST_S: Final = 7 * 86_400.0
"""A longer wait is reported as this one: no agent sleeps a week, and no arithmetic overflows."""

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}
_CLOCK: Final = r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d):(?P<second>[0-5]\d|60)"
_DATES: Final = (
    re.compile(
        rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<day>\d\d) (?P<month>[A-Z][a-z]{{2}}) (?P<year>\d{{4}}) {_CLOCK} GMT"
    ),
    re.compile(
        rf"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?P<day>\d\d)-(?P<month>[A-Z][a-z]{{2}})-(?P<year>\d\d) {_CLOCK} GMT"
    ),
    re.compile(
        rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<month>[A-Z][a-z]{{2}}) (?P<day>[ \d]\d) {_CLOCK} (?P<year>\d{{4}})"
    ),
)
_SECONDS: Final = re.compile(r"[0-9]{1,512}", re.ASCII)
# Longer digits than this are beyond LONGEST_S whatever they are.
_DIGITS: Final = 9
_YEAR_S: Final = 31_556_952


def parse_retry_after(value: str | None, *, wall: float) -> float | None:
    """Seconds to wait, from 0 to `LONGEST_S`; None when `value` is missing or is not a Retry-After.

    Args:
        value: the header's value.
        wall: seconds since 1970, for the forms that name a date; a date that has passed is 0.
    """
    if value is None:
        return None
    value = value.strip()
    if _SECONDS.fullmatch(value):
        digits = value.lstrip("0")
        return LONGEST_S if len(digits) > _DIGITS else min(float(digits or "0"), LONGEST_S)
    at = _http_date(value, wall)
    return None if at is None else min(max(at - wall, 0.0), LONGEST_S)


def _http_date(value: str, wall: float) -> float | None:
    match = next((found for form in _DATES if (found := form.fullmatch(value))), None)
    if match is None or (month := _MONTHS.get(match["month"])) is None:
        return None
    year, day = int(match["year"]), int(match["day"])
    if len(match["year"]) == 2:
        year = _full_year(year, wall)
    if year < 1970 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    clock = (int(match["hour"]), int(match["minute"]), int(match["second"]))
    return float(calendar.timegm((year, month, day, *clock)))


def _full_year(two_digits: int, wall: float) -> int:
    """The year meant by two digits: one that would be more than 50 years ahead is in the past (RFC 9110 5.6.7)."""
    this_year = 1970 + int(wall // _YEAR_S)
    year = this_year - this_year % 100 + two_digits
    return year - 100 if year > this_year + 50 else year
