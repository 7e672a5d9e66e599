"""What is wrong with a value, in words."""

from typing import Annotated, Any, Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.wording import place_in_yaml, words_for


class Subject(BaseModel):
    """One field of each kind."""

    model_config = ConfigDict(extra="forbid")

    whole: Annotated[int, Field(ge=2, le=4)] = 3
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    flag: bool = False
    rows: Literal["grouped", "sync"] = "sync"
    name: Annotated[str, Field(min_length=2, max_length=3)] = "abc"
    rate: Annotated[str, Field(pattern=r"^\d+/s$")] = "1/s"
    many: Annotated[tuple[int, ...], Field(min_length=1, max_length=2)] = (1,)
    inner: dict[str, int] = {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"whole": "x"}, "it has to be a whole number, as in A"),
        ({"whole": 1}, "it has to be 2 or more, as in A"),
        ({"whole": 5}, "it has to be 4 or less, as in A"),
        ({"share": "x"}, "it has to be a number, as in A"),
        ({"share": 0}, "it has to be more than 0.0, as in A"),
        ({"share": 1}, "it has to be less than 1.0, as in A"),
        ({"flag": "perhaps"}, "it has to be true or false, as in A"),
        ({"rows": "never"}, "it has to be `grouped` or `sync`, as in A"),
        ({"name": "a"}, "it has to have 2 characters or more, as in A"),
        ({"name": "abcd"}, "it has to have 3 characters or fewer, as in A"),
        ({"name": 1}, "it has to be text, as in A"),
        ({"rate": "1"}, "it is not written as it has to be, as in A"),
        ({"many": ()}, "it has to have 1 entries or more, as in A"),
        ({"many": (1, 2, 3)}, "it has to have 2 entries or fewer, as in A"),
        ({"many": 1}, "it has to be a list, as in A"),
        ({"inner": 1}, "it has to be names with their values, written as `name: value`, as in A"),
        ({"other": 1}, "there is no such name here, as in A"),
    ],
)
def test_no_words_are_those_of_a_library(given: dict[str, Any], words: str) -> None:
    """Each kind has its own, with something that is right."""
    with pytest.raises(ValidationError) as refused:
        Subject.model_validate(given)

    assert words_for(refused.value.errors()[0], "A") == words


def test_words_of_our_own_stay_as_they_are() -> None:
    """A check that says itself what to write needs no example; what has no words here keeps the library's."""
    assert words_for({"type": "value_error", "ctx": {"error": ValueError("don't")}, "msg": ""}, "A") == "don't"
    assert words_for({"type": "novel", "msg": "Something else"}) == "Something else"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "did not find expected node content, at line 2, column 1"),
        ("a: !!python/name:os.system", "could not determine a constructor for the tag"),
        ("a: \x07", "control characters are not allowed"),
    ],
)
def test_a_place_in_yaml_is_one_of_the_file(text: str, words: str) -> None:
    """Line and column, without the name that the parser has for the text."""
    with pytest.raises(yaml.YAMLError) as malformed:
        yaml.load(text, Loader=yaml.CSafeLoader)

    assert words in place_in_yaml(malformed.value)
    assert "unicode string" not in place_in_yaml(malformed.value)
