"""Whom a gateway believes."""

import httpx

from tests.waiting import eventually


async def until_refused(url: str, credential: str) -> None:
    """Wait until the gateway at `url` believes this key or token no more."""
    async with httpx.AsyncClient(trust_env=False, timeout=30.0) as asking:

        async def refused() -> bool:
            answer = await asking.get(f"{url}/v1/approvals", headers={"Authorization": f"Bearer {credential}"})
            return answer.status_code == 401

        await eventually(refused)
