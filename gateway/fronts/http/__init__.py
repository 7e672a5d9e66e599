"""The HTTP front: `build(core, authenticator, settings)` is the ASGI application, `serve` the process around it."""
