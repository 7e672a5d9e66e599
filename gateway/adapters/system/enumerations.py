"""What CPython 3.11 asks of an enumeration that later versions do not."""

import sys
from enum import EnumType


def spare_enumerations() -> None:
    """Have a member of an enumeration found as any attribute of a class is, in all of this process, as Python does since 3.12.

    3.11 has each member in its class, too, or a property that gives it, but goes by way of a `__getattr__` of the metaclass that
    finds nothing more: 1,200 instructions for `State.DONE` instead of 300, seventy times a write. Checked on 3.11.7.
    """
    if sys.version_info < (3, 12) and "__getattr__" in vars(EnumType):
        delattr(EnumType, "__getattr__")
