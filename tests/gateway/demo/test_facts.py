import pytest

from gateway.demo.facts import find_order, find_policies


@pytest.mark.parametrize("order", ["8472", "ORD-8472", "ord-8472", "ORD-9135"])
def test_one_order_has_several_spellings(order: str) -> None:
    """With or without its prefix, in any case, it is an order that was charged twice."""
    found = find_order(order)
    assert found is not None

    assert [each["amount_paise"] for each in found["payments"]] == [200_000, 200_000]


def test_every_number_is_an_order() -> None:
    """An order nobody set up has one captured payment of 4,250 rupees."""
    found = find_order("ORD-4471")
    assert found is not None

    assert [each["amount_paise"] for each in found["payments"]] == [425_000]


def test_a_word_is_no_order() -> None:
    """What is not a number is not found."""
    assert find_order("ORD-X") is None


def test_policies_are_found_by_their_words() -> None:
    """A query finds the passages that share a word with it; an empty one finds all."""
    assert [each["section"] for each in find_policies("approval threshold")] == ["3.2"]
    assert len(find_policies("")) == 2
    assert find_policies("unrelated nonsense") == []
