"""Sensitive arguments: sealed for the action, gone from history."""

import json
from typing import Any

import pytest

from agent_client.inference import ToolRequest
from agent_client.sealing import AesSealer, new_key
from agent_client.secrecy import SealerRequired, Secrecy
from agent_client.toolbox import toolbox
from tests.agent_client.approving import TOOLS
from tests.agent_client.test_toolbox import MARKED

BOX = toolbox(["pay", "lookup_order"], [MARKED, *TOOLS.values()])
SECRET = "DE02 1203 0000 0000 2020 51"


def secrecy() -> Secrecy:
    """With a key of its own."""
    return Secrecy(task_id="t", toolbox=BOX, sealer=AesSealer([new_key()]))


def request(name: str, arguments: Any) -> ToolRequest:
    """A model's call."""
    return ToolRequest(id="x", name=name, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments))


def test_T11_a_plan_shows_the_redacted_form_and_keeps_the_real_one_sealed() -> None:
    """The action runs with what the model wrote; whoever reads the log does not see it."""
    kept = secrecy()

    (call,) = kept.plan(3, [request("pay", {"iban": SECRET})])

    assert (call.call_id, call.arguments) == ("call_3_1", '{"iban": "[redacted]"}')
    assert SECRET not in call.model_dump_json()
    assert json.loads(kept.real(call)) == {"iban": SECRET}


def test_T11_what_is_sealed_serves_its_own_call_of_its_own_task_only() -> None:
    """Moved to another call, or into another task's log, it cannot be opened."""
    kept = secrecy()
    (call,) = kept.plan(3, [request("pay", {"iban": SECRET})])
    other_task = Secrecy(task_id="t2", toolbox=BOX, sealer=kept.sealer)

    for holder, moved in ((kept, call.model_copy(update={"call_id": "call_3_2"})), (other_task, call)):
        with pytest.raises(ValueError, match="cannot be opened"):
            holder.real(moved)


@pytest.mark.parametrize("name", ["pay", "invented"])
def test_T11_what_cannot_be_read_is_not_shown_either(name: str) -> None:
    """Nobody can say which part of it was the secret one; also when the tool does not exist."""
    kept = secrecy()

    (call,) = kept.plan(1, [request(name, f'{{"iban": "{SECRET}"')])

    assert SECRET not in call.model_dump_json()
    assert SECRET in kept.real(call)


def test_tools_without_secrets_need_no_seal() -> None:
    """Their arguments stand as they are."""
    (call,) = secrecy().plan(1, [request("lookup_order", '{"order_id":  "1"}')])

    assert (call.arguments, call.sealed) == ('{"order_id":  "1"}', None)


def test_L80_a_raw_reply_is_kept_without_the_secrets_of_its_calls() -> None:
    """Wherever a provider repeats them: in its own escaping, beside the call, in its prose."""
    calls = [request("pay", {"iban": SECRET})]
    raw = {"text": f"Paying to {SECRET}.", "arguments": calls[0].arguments}

    assert SECRET not in json.dumps(secrecy().scrub(raw, calls))


def test_a_task_with_sensitive_arguments_needs_a_sealer() -> None:
    """The error says which tool, and both ways out."""
    with pytest.raises(SealerRequired, match=r"pay takes sensitive.*AesSealer.*Unsealed"):
        Secrecy(task_id="t", toolbox=BOX, sealer=None)
    assert Secrecy(task_id="t", toolbox=toolbox(["lookup_order"], TOOLS.values()), sealer=None).sealer is None
