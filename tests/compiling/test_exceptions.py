"""mypyc leaves exceptions as they are."""

from compiling.exceptions import left_ordinary

MARK = "@(lambda exception: exception)\n"


def test_an_exception_is_marked_whatever_it_is_called() -> None:
    """By what it derives from."""
    source = '"""Doc."""\n\nimport os\n\n\nclass Gone(LookupError):\n    pass\n'
    assert left_ordinary(source) == f'"""Doc."""\n\nimport os\n\n\n{MARK}class Gone(LookupError):\n    pass\n'


def test_a_decorated_one_is_marked_above_its_decorators() -> None:
    """The mark is the outermost."""
    told = left_ordinary("@final\nclass Gone(errors.StoreError):\n    pass\n")
    assert told == f"{MARK}@final\nclass Gone(errors.StoreError):\n    pass\n"


def test_a_value_that_is_called_an_error_is_none() -> None:
    """What an envelope says of an error is a value; it stays compiled."""
    source = "class ToolError:\n    code: str\n"
    assert left_ordinary(source) == source


def test_a_module_without_exceptions_is_as_it_was() -> None:
    """Whatever its classes derive from."""
    assert left_ordinary("class Plain(Other):\n    pass\n") == "class Plain(Other):\n    pass\n"
