"""A client of the MCP server, as an agent has it."""

from __future__ import annotations

import base64
import io
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from desktop import ROOT
from mcp import Client, StdioServerParameters
from PIL import Image


class Tools:
    """Calls tools by their names, and counts."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.calls = 0

    async def ask(self, tool: str, **values: Any) -> tuple[dict[str, Any], list[np.ndarray]]:
        """What it gives as data, and its images [h, w, 3]."""
        self.calls += 1
        result = await self._client.call_tool(tool, values)
        if result.is_error:
            raise RuntimeError(result.content[0].text)
        images = [
            Image.open(io.BytesIO(base64.b64decode(part.data))) for part in result.content if part.type == "image"
        ]
        return result.structured_content, [np.asarray(image.convert("RGB")) for image in images]


@asynccontextmanager
async def server(source: str, *arguments: str) -> AsyncIterator[Tools]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "pysaccade.mcp", source, *arguments], env=environment
    )
    async with Client(command) as client:
        yield Tools(client)
