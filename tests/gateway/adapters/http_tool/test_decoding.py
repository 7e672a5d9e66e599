"""Content codings undone within a bound."""

import gzip
import zlib
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.http_tool.decoding import decode
from gateway.adapters.http_tool.progress import Failed
from gateway.stages.execute.attempt.exchange import Fault

pack = partial(gzip.compress, mtime=0)
TEXT = b'{"refund": 1}' * 10


def bare(data: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush()


@pytest.mark.parametrize(
    ("encodings", "body"),
    [
        ("identity", TEXT),
        ("", TEXT),
        (" , identity", TEXT),
        ("gzip", pack(TEXT)),
        ("GZip, identity", pack(TEXT)),
        ("x-gzip", pack(TEXT[:60]) + pack(TEXT[60:])),
        ("gzip", pack(TEXT) + b"\0" * 9),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", bare(TEXT)),
    ],
)
def test_known_codings_are_undone(encodings: str, body: bytes) -> None:
    """Members in a row and padding included."""
    assert decode(body, encodings, len(TEXT)) == TEXT


@pytest.mark.parametrize("encodings", ["gzip", "br"])
def test_nothing_stays_nothing(encodings: str) -> None:
    """Some servers name a coding for an empty body."""
    assert decode(b"", encodings, 0) == b""


@pytest.mark.parametrize(
    ("encodings", "body"),
    [
        ("br", TEXT),
        ("zstd", TEXT),
        ("gzip, gzip", pack(pack(TEXT))),
        ("gzip", TEXT),
        ("gzip", pack(TEXT)[:-1]),
        ("gzip", pack(TEXT)[:-5] + b"12345"),
        ("gzip", pack(TEXT) + b"junk"),
        ("deflate", zlib.compress(TEXT)[:-1]),
        ("deflate", zlib.compress(TEXT) + b"junk"),
        ("deflate", b"\xff" * 9),
    ],
)
def test_what_cannot_be_undone_whole_is_refused(encodings: str, body: bytes) -> None:
    """Half a result is none."""
    with pytest.raises(Failed) as failed:
        decode(body, encodings, 10_000)

    assert failed.value.fault is Fault.BAD_ENCODING


@pytest.mark.parametrize("encodings", ["gzip", "deflate"])
@pytest.mark.parametrize("limit", [0, 1, 999])
def test_no_byte_beyond_the_limit_is_held(encodings: str, limit: int) -> None:
    """A bomb goes off in the bound it was given."""
    packed_by = pack if encodings == "gzip" else zlib.compress

    with pytest.raises(Failed) as failed:
        decode(packed_by(b"\0" * 1_000), encodings, limit)

    assert failed.value.fault is Fault.BODY_TOO_LARGE
    assert decode(packed_by(b"\0" * 1_000), encodings, 1_000) == b"\0" * 1_000


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "x-gzip"]), st.integers(0, 100))
def test_whatever_a_peer_sends_stays_within_the_limit(body: bytes, encodings: str, limit: int) -> None:
    """Decoded or refused, never raised as something else."""
    with suppress(Failed):
        assert len(decode(body, encodings, limit)) <= limit or not body
