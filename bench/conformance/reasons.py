"""What of the official suite does not apply to this server, and why. Everything else must pass.

Keys are scenarios, or single checks of scenarios that have others which do apply.
"""

from collections.abc import Mapping
from typing import Final

_NO_CONTENT: Final = "a result is the gateway's envelope, as text and as structure, and never a tool's own content"
_NO_RESOURCES: Final = "the server has tools only: no resources"
_NO_PROMPTS: Final = "the server has tools only: no prompts"
_NO_COMPLETION: Final = "the server has tools only: nothing to complete"
_NO_STREAM: Final = "answers are single JSON documents; nothing is sent before them"
_NO_INPUT: Final = "the server never asks the client: an approval is decided by an entitled person, out of band"
_NO_LOGGING: Final = "the server sends no log messages to clients"
_NO_SUBSCRIPTIONS: Final = "resources are not subscribed to, because there are none"
_NO_TASKS: Final = "an extension that is not offered"

INAPPLICABLE: Final[Mapping[str, str]] = {
    "logging-set-level": _NO_LOGGING,
    "completion-complete": _NO_COMPLETION,
    "tools-call-image": _NO_CONTENT,
    "tools-call-audio": _NO_CONTENT,
    "tools-call-embedded-resource": _NO_CONTENT,
    "tools-call-mixed-content": _NO_CONTENT,
    "tools-call-with-logging": _NO_LOGGING,
    "tools-call-with-progress": _NO_STREAM,
    "tools-call-sampling": _NO_INPUT,
    "tools-call-elicitation": _NO_INPUT,
    "elicitation-sep1034-defaults": _NO_INPUT,
    "elicitation-sep1330-enums": _NO_INPUT,
    "resources-list": _NO_RESOURCES,
    "resources-read-text": _NO_RESOURCES,
    "resources-read-binary": _NO_RESOURCES,
    "resources-templates-read": _NO_RESOURCES,
    "resources-subscribe": _NO_SUBSCRIPTIONS,
    "resources-unsubscribe": _NO_SUBSCRIPTIONS,
    "prompts-list": _NO_PROMPTS,
    "prompts-get-simple": _NO_PROMPTS,
    "prompts-get-with-args": _NO_PROMPTS,
    "prompts-get-embedded-resource": _NO_PROMPTS,
    "prompts-get-with-image": _NO_PROMPTS,
    "input-required-result-basic-elicitation": _NO_INPUT,
    "input-required-result-basic-sampling": _NO_INPUT,
    "input-required-result-basic-list-roots": _NO_INPUT,
    "input-required-result-request-state": _NO_INPUT,
    "input-required-result-multiple-input-requests": _NO_INPUT,
    "input-required-result-multi-round": _NO_INPUT,
    "input-required-result-non-tool-request": _NO_INPUT,
    "input-required-result-result-type": _NO_INPUT,
    "input-required-result-tampered-state": _NO_INPUT,
    "input-required-result-capability-check": _NO_INPUT,
    "http-custom-header-server-validation": "no argument is mirrored into a header: proxies log headers",
    "tasks-lifecycle": _NO_TASKS,
    "tasks-capability-negotiation": _NO_TASKS,
    "tasks-wire-fields": _NO_TASKS,
    "tasks-request-state-removal": _NO_TASKS,
    "tasks-mrtr-input": _NO_TASKS,
    "tasks-request-headers": _NO_TASKS,
    "tasks-dispatch-and-envelope": _NO_TASKS,
    "tasks-required-task-error": _NO_TASKS,
    "tasks-mrtr-composition": _NO_TASKS,
    "sep-2575-server-rejects-undeclared-capability": "no tool needs a capability of the client",
    "sep-2575-missing-capability-http-400": "no tool needs a capability of the client",
    "sep-2549-prompts-list-caching-hints": _NO_PROMPTS,
    "sep-2549-resources-list-caching-hints": _NO_RESOURCES,
    "sep-2549-resources-templates-list-caching-hints": _NO_RESOURCES,
}
