import asyncio

import pytest

from gateway.demo.behaviour import HEALTHY, Behaviour, Ending, Hold, Script, Scripts, behaviour_from
from tests.waiting import turns


def test_a_script_is_used_up_in_order() -> None:
    """Two scripted requests, then whatever stays."""
    scripts = Scripts()
    first, second, last = Behaviour(before_s=9), Behaviour(before_s=7), Behaviour(ending=Ending.CLOSE)
    script = Script(then=last)
    script.next.extend([first, second])
    scripts.put("POST", "ORD-1", script)

    assert [scripts.take("POST", "ORD-1") for _ in range(4)] == [first, second, last, last]


def test_a_script_is_for_one_subject_and_one_method() -> None:
    """Other orders and other methods are treated well."""
    scripts = Scripts()
    scripts.put("POST", "ORD-1", Script(then=Behaviour(ending=Ending.RESET)))

    assert [scripts.take("GET", "ORD-1"), scripts.take("POST", "ORD-2")] == [HEALTHY, HEALTHY]


def test_a_star_is_for_everybody_without_a_script() -> None:
    """`*` treats every subject that has no script of its own."""
    scripts = Scripts()
    slow = Behaviour(before_s=1)
    scripts.put("POST", "*", Script(then=slow))

    assert scripts.take("POST", "ORD-9") == slow


def test_a_behaviour_is_read_from_json() -> None:
    """Every field of a behaviour can be scripted by its name."""
    value = {
        "before_s": 1.5, "after_s": 2.5, "late_effect_s": 3.5, "hold": "answer", "effect": False,
        "ending": "status", "status": 429, "retry_after_s": 3,
    }  # fmt: skip

    assert behaviour_from(value) == Behaviour(
        before_s=1.5,
        after_s=2.5,
        late_effect_s=3.5,
        hold=Hold.ANSWER,
        effect=False,
        ending=Ending.STATUS,
        status=429,
        retry_after_s=3,
    )


@pytest.mark.parametrize("value", [{"befor_s": 1}, {"ending": "explode"}, {"hold": "forever"}])
def test_a_word_that_does_not_exist_is_refused(value: dict[str, object]) -> None:
    """A typo in a script is an error, never a healthy provider."""
    with pytest.raises(ValueError, match=r"behaviour|valid"):
        behaviour_from(value)


async def test_a_held_request_waits_until_its_subject_is_released() -> None:
    """Releasing one order lets it go on, and no other."""
    scripts = Scripts()
    one, two = asyncio.create_task(scripts.released("ORD-1")), asyncio.create_task(scripts.released("ORD-2"))
    await turns()
    scripts.release("ORD-1")
    await one

    assert not two.done()
    two.cancel()


async def test_a_new_script_lets_those_who_wait_at_the_old_one_go() -> None:
    """Nobody waits for ever at a gate that was replaced, and the new gate is shut."""
    scripts = Scripts()
    old = asyncio.create_task(scripts.released("ORD-1"))
    await turns()
    scripts.put("POST", "ORD-1", Script())
    await old
    new = asyncio.create_task(scripts.released("ORD-1"))
    await turns()

    assert not new.done()
    new.cancel()
