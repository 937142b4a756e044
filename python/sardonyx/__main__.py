"""`python -m sardonyx COMMAND`: the program `sardonyx`, which the wheel installs beside `python`.

`python -m sardonyx FILE.py` runs a Python program instead, with sardonyx for onnxscript.
"""

import os
import shutil
import subprocess
import sys
import sysconfig


def main() -> int:
    """Runs the program with the arguments of this process."""
    if len(sys.argv) > 1 and sys.argv[1].endswith(".py"):
        from ._run import run

        run(sys.argv[1:])
    program = shutil.which("sardonyx", path=sysconfig.get_path("scripts")) or shutil.which(
        "sardonyx"
    )
    if program is None:
        print("error: the program `sardonyx` is not installed beside this Python", file=sys.stderr)
        return 2
    # `run --compare` runs other runtimes in this Python.
    environment = {**os.environ, "SARDONYX_PYTHON": sys.executable}
    return subprocess.run([program, *sys.argv[1:]], check=False, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
