"""`oncegate serve`."""

import errno
import json
import logging
import os
from collections.abc import Callable
from typing import Any

import click

from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.options import load_settings, setting_options
from gateway.cli.output import json_option
from gateway.cli.watching import Seen
from gateway.fronts.build import build
from gateway.fronts.http.edge import Edge
from gateway.fronts.http.ports import Core
from gateway.fronts.http.server import Server, bind, run
from gateway.settings import Settings, SettingsError

_log = logging.getLogger("oncegate")


@click.command(epilog=EXIT_HELP)
@setting_options()
@json_option
def command(*, as_json: bool, **flags: Any) -> None:
    """Run the gateway until SIGTERM; then finish what is in flight, and exit 0.

    Prints one line when it listens. SIGHUP loads manifests and keys anew; a bad file keeps the old ones.
    A setting is taken from its option, else from its environment variable, else from oncegate.yaml.

    \b
    oncegate serve --manifests tool_manifests --keys keys.json --store sqlite:///oncegate.db
    oncegate serve --port 0 --allow-private 127.0.0.1:9000 --manifest-env PAYMENTS_URL
    """  # noqa: D301 - click's mark for lines that stay lines
    loaded = load_settings(flags)
    settings = loaded.settings
    from gateway.adapters.logs.config import configure_logging  # noqa: PLC0415 - not for --help
    from gateway.adapters.system.enumerations import spare_enumerations  # noqa: PLC0415 - as above
    from gateway.app import assemble  # noqa: PLC0415 - brings every adapter

    configure_logging(settings.log_level.upper())
    for sentence in loaded.unread:
        _log.warning("%s", sentence)
    spare_enumerations()
    # Looked at before they are read: what changes meanwhile is a change.
    files = watched(settings)
    try:
        gateway = assemble(settings, os.environ)
    except SettingsError as wrong:
        raise Failure(str(wrong), Exit.USAGE) from None
    application = build(gateway.core, gateway.authenticator, settings, gateway.telemetry)
    serve(application, gateway.core, settings, reload=gateway.reload, files=files, as_json=as_json)


def serve(
    application: Edge, core: Core, settings: Settings, *, reload: Callable[[], None], files: Seen, as_json: bool
) -> None:
    """Listen, announce it, and run until a signal ends it.

    Raises:
        Failure: the address cannot be listened on, or the core did not start.
    """
    try:
        listening = bind(settings)
    except OSError as error:
        raise Failure(_deaf(settings, error), Exit.USAGE) from None
    server = Server(
        application,
        core,
        settings,
        announce=lambda host, port: announce(host, port, as_json=as_json),
        reload=reload,
        files_changed=files.changed,
    )
    try:
        run(server, listening)
    except SystemExit:
        if application.unfit is not None:
            raise Failure(f"the gateway does not start: {application.unfit.removesuffix('.')}.", Exit.USAGE) from None
        raise Failure("the gateway did not start; its log says why.", Exit.NO) from None


def _deaf(settings: Settings, error: OSError) -> str:
    way_out = " Give another with --port; 0 takes a free one." if error.errno == errno.EADDRINUSE else ""
    return f"cannot listen on {settings.host} port {settings.port}: {error.strerror}.{way_out}"


def watched(settings: Settings) -> Seen:
    """The files that are taken anew when they have changed."""
    return Seen(tuple(filter(None, (settings.manifests, settings.keys, settings.issuers))))


def announce(host: str, port: int, *, as_json: bool) -> None:
    """The one line that says that calls may come."""
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    if as_json:
        print(
            json.dumps({"event": "listening", "url": url, "host": host, "port": port, "pid": os.getpid()}), flush=True
        )
    else:
        print(f"oncegate listening on {url}", flush=True)
