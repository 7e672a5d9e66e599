"""The Model Context Protocol over HTTP: one stateless endpoint, `POST /mcp`, for clients of four revisions.

A call goes through the same stages as one over `/v1`, and its answer is the same envelope. Nothing is remembered
between two requests: no session, no stream to resume, and a JSON-RPC id names nothing but its own answer. What makes
two calls one operation is the operation record, so a client whose stream was lost issues its call anew, as the
protocol asks of it, and gets the stored answer.
"""
