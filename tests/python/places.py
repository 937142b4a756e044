"""Where the repository is, and what has been built: that of SDX_BUILD, or else the release build
where there is one."""

from __future__ import annotations

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get(
    "SDX_BUILD",
    "build/release" if (ROOT / "build/release/sardonyx").exists() else "build/dev",
)
PROGRAM = BUILD / "sardonyx"
