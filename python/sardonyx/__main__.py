"""`python -m sardonyx`: the program `sardonyx`, which the wheel installs beside `python`."""

import shutil
import subprocess
import sys
import sysconfig


def main() -> int:
    """Runs the program with the arguments of this process."""
    program = shutil.which("sardonyx", path=sysconfig.get_path("scripts")) or shutil.which(
        "sardonyx"
    )
    if program is None:
        print("error: the program `sardonyx` is not installed beside this Python", file=sys.stderr)
        return 2
    return subprocess.run([program, *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
