"""What a task may use up."""

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """Bounds that the runtime holds whatever any component returns.

    Attributes:
        max_steps: inferences that may bring a decision. A rejected proposal costs one, an inference retry none.
        active_seconds: working time. Waiting for a person is not working; waiting for a provider is.
        max_tokens: read and written by the model over the whole task.
        max_reply_tokens: of one reply.
        max_prompt_tokens: of one rendered prompt; older results are summarised to stay within it.
        max_polls: re-reads that `wait` may make over the whole task.
        max_wait_seconds: the longest pause before one of them.
        max_resumes: how often in a row, without a new version, a task that was dropped in the middle is taken up again.
        reconcile_seconds: how long one action in doubt is asked after before a person is called; and how long a run
            waits for a gateway that does not answer.
        flight_seconds: how long after its answer was lost a write may still begin at the gateway. Until then a refusal
            does not count as proof that it was not carried out. At least the largest `total` + `grace` of the task's
            tools; the default is that of a manifest which names none. To be well below `reconcile_seconds`, or a person
            is called where waiting would have settled it.
        inference_seconds: how long one inference may take.
        read_seconds: how long one attempt of a read may take.
        max_repeat: how often one action may bring the same result before it is called a repetition.
        max_stalled: how many steps in a row may leave everything as it was.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_steps: int = Field(default=12, ge=1)
    active_seconds: float = Field(default=300, gt=0)
    max_tokens: int = Field(default=100_000, ge=1)
    max_reply_tokens: int = Field(default=1_024, ge=64)
    max_prompt_tokens: int = Field(default=16_000, ge=256)
    max_polls: int = Field(default=10, ge=0)
    max_wait_seconds: float = Field(default=30, gt=0)
    max_resumes: int = Field(default=5, ge=0)
    reconcile_seconds: float = Field(default=60, ge=0)
    flight_seconds: float = Field(default=30, ge=0)
    inference_seconds: float = Field(default=60, gt=0)
    read_seconds: float = Field(default=30, gt=0)
    max_repeat: int = Field(default=2, ge=1)
    max_stalled: int = Field(default=3, ge=1)
