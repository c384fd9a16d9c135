"""The golden files that the TypeScript tests read as well."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]


def golden(name: str) -> dict[str, Any]:
    """``contract/fixtures/<name>.json``."""
    content: dict[str, Any] = json.loads((REPOSITORY / "contract" / "fixtures" / f"{name}.json").read_text("utf-8"))
    return content


def contract_limit(name: str) -> int:
    """A number of ``contract/limits.ts`` or another file of the contract that declares it."""
    for file in sorted((REPOSITORY / "contract").glob("*.ts")):
        found = re.search(rf"^export const {name} = ([0-9_]+);", file.read_text("utf-8"), re.MULTILINE)
        if found:
            return int(found[1].replace("_", ""))
    raise AssertionError(f"the contract has no {name}")
