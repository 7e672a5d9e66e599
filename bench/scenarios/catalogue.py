"""The rows of the table, in order."""

from bench.scenarios.approvals import (
    changed_after_the_word,
    denied,
    killed_with_it,
    lapsed,
    never_left,
    own_word,
    used_at_once,
    used_twice,
)
from bench.scenarios.arguments import changed_amount, extra_argument, other_in_similar_words, same_in_other_words
from bench.scenarios.crashes import killed_after_the_commit, stalled_owner
from bench.scenarios.crowd import identical_calls
from bench.scenarios.half_open import one_probe, quick_breakers
from bench.scenarios.incident import (
    broken_answer,
    look_up_asked_at_once,
    other_payment_in_doubt,
    refund_of_yesterday,
    slow_provider,
)
from bench.scenarios.refused import refused_then_up
from bench.scenarios.stage import Scenario

SHORT_LEASE = {"ONCEGATE_LEASE_S": "0.5"}
WORKERS = {"NAIVE_WORKERS": "1"}

SCENARIOS = (
    Scenario(id="S1", title="the incident: the answer comes after the timeout", right=1, play=slow_provider),
    Scenario(id="S1L", title="look-up asked at once, the refund comes later", right=1, play=look_up_asked_at_once),
    Scenario(id="S1o", title="in doubt; another payment of the same order", right=1, play=other_payment_in_doubt),
    Scenario(id="S2", title="20 identical calls at once", right=1, play=identical_calls(clients=1)),
    Scenario(
        id="S2p", title="the same from 4 clients over 2 gateways", right=1, play=identical_calls(clients=4),
        processes=2, alone=True,
    ),
    Scenario(
        id="S3", title="killed -9 after the commit, same call again", right=1, play=killed_after_the_commit,
        alone=True, options=SHORT_LEASE | WORKERS,
    ),
    Scenario(id="S4", title="same key, amount changed, during and after", right=1, play=changed_amount),
    Scenario(
        id="S5", title="owner stalled (SIGSTOP) for longer than its lease", right=1, play=stalled_owner,
        processes=2, alone=True, options=SHORT_LEASE | WORKERS,
    ),
    Scenario(id="S6", title="extra argument force: true", right=0, play=extra_argument),
    Scenario(
        id="S7", title="half open, 50 callers, 2 gateways, one cold", right=1, play=one_probe(50),
        processes=2, alone=True, manifests=quick_breakers,
    ),
    Scenario(id="S8", title="approved, then the amount changes", right=0, play=changed_after_the_word),
    Scenario(id="S8u", title="approved, then used again and again", right=1, play=used_twice),
    Scenario(
        id="S8p", title="one approval, 20 calls from 4 clients over 2 gateways", right=1, play=used_at_once,
        processes=2, alone=True,
    ),
    Scenario(id="S8e", title="approved, then lapsed", right=0, play=lapsed),
    Scenario(id="S8s", title="the requester approves it itself", right=0, play=own_word),
    Scenario(id="S8d", title="denied, then called again", right=0, play=denied),
    Scenario(id="S8n", title="approved, and the attempt never left", right=1, play=never_left, alone=True),
    Scenario(
        id="S8k", title="approved, then killed -9 after the commit", right=1, play=killed_with_it,
        alone=True, options=SHORT_LEASE | WORKERS,
    ),
    Scenario(id="S9", title="commits, then closes without an answer", right=1, play=broken_answer(ending="close")),
    Scenario(id="S9r", title="commits, then resets the connection", right=1, play=broken_answer(ending="reset")),
    Scenario(id="S9b", title="commits, then 502", right=1, play=broken_answer(ending="status", status=502)),
    Scenario(id="S9t", title="commits, then 504", right=1, play=broken_answer(ending="status", status=504)),
    Scenario(id="S9h", title="commits, then half an answer", right=1, play=broken_answer(ending="half")),
    Scenario(id="S9g", title="commits, then garbage", right=1, play=broken_answer(ending="garbage")),
    Scenario(id="S9y", title="drops it; yesterday's refund is in the list", right=0, play=refund_of_yesterday),
    Scenario(id="S10", title="the same refund in other spellings", right=1, play=same_in_other_words),
    Scenario(id="S10d", title="another amount; another payment", right=2, play=other_in_similar_words),
    Scenario(id="S12", title="connection refused, then up", right=1, play=refused_then_up, alone=True),
)  # fmt: skip
