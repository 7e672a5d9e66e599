"""The sections of a manifest that say where a call goes, as models."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.manifest import policies
from gateway.manifest.fields import (
    Digest,
    DocumentName,
    HeaderName,
    Line,
    RpcKey,
    Server,
    Source,
    Status,
    StatusKey,
    VariableName,
)
from gateway.manifest.urls import Style


class Section(BaseModel):
    """Unknown members are errors, and no value is taken for one of another type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_enum_values=False)


# Strict mode wants enum members; manifests have their texts.
StatusMeaning = Annotated[policies.StatusMeaning, Field(strict=False)]


class StyledSection(Section):
    """A list or an object in a query or a form."""

    value: Source = Field(description="One hole, such as {args.tags}.")
    style: Style = Field(description="repeat, comma, space, pipe, or deep_object: name[member]=value.")


class HttpSection(Section):
    """The request that carries the call out."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = Field(description="The HTTP method.")
    url: Source = Field(description="Starts with ${NAME} or scheme and host; values of a call only behind the host.")
    query: dict[str, str | StyledSection] = Field(
        {}, description="Query parameters; one that is a missing argument is left out."
    )
    headers: dict[HeaderName, str] = Field({}, description="Request headers.")
    body: dict[str, Any] | list[Any] | str | None = Field(None, description="A JSON body with holes.")
    form: dict[str, str | StyledSection] | None = Field(None, description="A URL-encoded body, as `query` is written.")
    statuses: dict[StatusKey, StatusMeaning] = Field({}, description="What single statuses prove at this downstream.")
    already_done: list[Status] = Field([], description="Statuses that mean done, but only after an unknown attempt.")
    refused_when: Source | None = Field(None, description="CEL over `data`: a success whose body says no.")
    fresh_connection: bool = Field(False, description="Never send on a connection that was used before.")
    deadline_header: HeaderName | None = Field(None, description="Header for the time left, in milliseconds.")
    post_reads: bool = Field(False, description="Of a read by POST: it was looked at, and it changes nothing.")


class OpenApiSection(Section):
    """The request that an operation of an OpenAPI document describes; it is read as a `backend.http`."""

    document: DocumentName = Field(description="File below the manifest directory, in a folder called openapi.")
    operation: Line = Field(description="Its operationId; without one, its method and path: `GET /orders/{id}`.")
    digest: Digest = Field(description="Of what was understood; another operation than the reviewed one is refused.")
    server: Server = Field(description="Where it is: ${NAME}, or scheme and host, and the path before the document's.")
    headers: dict[HeaderName, str] = Field({}, description="More request headers, such as the credential's.")
    statuses: dict[StatusKey, StatusMeaning] = Field({}, description="As in `http`.")
    already_done: list[Status] = Field([], description="As in `http`.")
    refused_when: Source | None = Field(None, description="As in `http`.")
    fresh_connection: bool = Field(False, description="As in `http`.")
    deadline_header: HeaderName | None = Field(None, description="As in `http`.")
    post_reads: bool = Field(False, description="As in `http`.")


class McpSection(Section):
    """A tool of an MCP server: `tools/call` over streamable HTTP, or over the pipes of a process."""

    url: Source | None = Field(None, description="The server's endpoint, as `http.url`; or `command`.")
    headers: dict[HeaderName, str] = Field(
        {}, description="With `url`: more request headers, such as the credential's."
    )
    command: Source | None = Field(None, description="The program that is the server; the operator must allow it.")
    args: list[Source] = Field([], description="With `command`: its arguments.")
    env: dict[VariableName, str] = Field({}, description="With `command`: its environment, beside PATH and the locale.")
    tool: Line = Field(description="The tool's name there.")
    arguments: dict[str, Any] | None = Field(None, description="Its arguments, with holes. Default: this tool's own.")
    digest: Digest = Field(description="Of the whole tool object there; another one than the reviewed is not called.")
    is_error: StatusMeaning = Field(
        policies.StatusMeaning.UNKNOWN, description="What a result with isError proves about a write."
    )
    errors: dict[RpcKey, StatusMeaning] = Field({}, description="What single JSON-RPC error codes prove here.")
