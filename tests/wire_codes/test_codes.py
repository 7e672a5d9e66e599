"""Each error code of the contract, produced over a real socket; or the reason why nothing can produce it yet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from gateway.contract.codes import ErrorCode
from tests.wire_codes import approval_cases, front_cases, record_cases, wire_cases
from tests.wire_codes.case import Case, check_answer, check_effects, check_row
from tests.wire_codes.variants import VARIANTS

CASES: Final[Mapping[ErrorCode, Case]] = {
    **approval_cases.CASES,
    **front_cases.CASES,
    **record_cases.CASES,
    **wire_cases.CASES,
}

NOT_YET: Final[Mapping[ErrorCode, str]] = {}
"""Codes that no manifest of this version can lead to."""

ELSEWHERE: Final = {ErrorCode.TLS_UNTRUSTED}
"""Produced by a test of their own below."""


@pytest.mark.parametrize("code", CASES, ids=[code.value for code in CASES])
async def test_the_code_comes_over_the_wire(code: ErrorCode, tmp_path: Path) -> None:
    """Its status, words and headers are right, the provider saw no more than they say, and one row says the same."""
    await proved(code, CASES[code], tmp_path)


@pytest.mark.parametrize(("code", "case"), [each[1:] for each in VARIANTS], ids=[each[0] for each in VARIANTS])
async def test_the_tool_decides_what_comes_next(code: ErrorCode, case: Case, tmp_path: Path) -> None:
    """The same code, with the advice that this tool's caller can follow."""
    await proved(code, case, tmp_path)


async def test_a_certificate_that_nobody_vouches_for(tmp_path: Path) -> None:
    """`tls_untrusted`: the handshake is broken off, and no request comes through."""
    with wire_cases.untrusted_service() as (case, service):
        await proved(ErrorCode.TLS_UNTRUSTED, case, tmp_path)
        assert service.arrived == 0


async def proved(code: ErrorCode, case: Case, folder: Path) -> None:
    """Play a case, and hold its answer, its effects and its row to the table."""
    async with case.standing(folder) as stand:
        answer = await case.play(stand)
        check_answer(code, case, answer)
        check_effects(code, case, stand)
        if case.rows:
            await check_row(answer, stand)


def test_every_code_is_produced_or_has_a_reason() -> None:
    """No code of the contract is forgotten, and none that can be produced is excused."""
    produced = CASES.keys() | ELSEWHERE

    assert produced | NOT_YET.keys() == set(ErrorCode)
    assert not produced & NOT_YET.keys()
