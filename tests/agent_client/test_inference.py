"""The values of the model's seam."""

from agent_client.inference import ModelTrouble, Usage


def test_a_budget_counts_what_was_read_and_written() -> None:
    """Both together."""
    assert Usage(input_tokens=1_200, output_tokens=60).total == 1_260


def test_trouble_costs_nothing_unless_its_provider_says_so() -> None:
    """And it asks for no wait unless it was asked to."""
    trouble = ModelTrouble("429", retryable=True)

    assert (trouble.usage.total, trouble.retry_after_s, str(trouble)) == (0, None, "429")
