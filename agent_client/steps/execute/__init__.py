"""Step 6: the call, not the proposal, is the action.

Reads go together, each attempt under a request id of its own. Writes go one at a time: the intent is durable before
the first byte, and an answer that proves nothing is followed up before anything else happens.
"""
