"""`python -m sardonyx.torch model.pt2 -o model.onnx`: a file of torch.export.save as a model."""

from __future__ import annotations

import argparse
import pathlib
import sys

from . import ExportError, convert


def _dim(text: str) -> tuple[str, str]:
    symbol, equals, name = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"`{text}`: write it as `s77=batch`")
    return symbol, name


def main(words: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m sardonyx.torch",
        description="Converts a file of torch.export.save to ONNX, or to a script with its weights "
                    "beside it. PyTorch is not needed, and nothing in the file is executed.",
    )  # fmt: skip
    parser.add_argument("file", metavar="MODEL.pt2", type=pathlib.Path)
    parser.add_argument("-o", "--output", metavar="MODEL.onnx|SCRIPT.py", type=pathlib.Path,
                        help="the file to write (MODEL.onnx beside MODEL.pt2)")  # fmt: skip
    parser.add_argument("--opset", type=int, metavar="N", help="the version of ai.onnx (20)")
    parser.add_argument("--dim", type=_dim, action="append", default=[], metavar="s77=batch",
                        help="a name for a dimension, in place of the one in the file")  # fmt: skip
    parser.add_argument("--state", choices=("outputs", "drop", "error"), default="outputs",
                        help="what to do with buffers that the model changes")  # fmt: skip
    parser.add_argument("--library", action="append", default=[], metavar="FILE.py",
                        help="a file with your own operators, as functions below "
                             '@operator("mylib::op")')  # fmt: skip
    parser.add_argument(
        "--outline",
        action="store_true",
        help="write modules that repeat as functions of the script",
    )
    parser.add_argument("--target", metavar="onnxruntime-1.20",
                        help="make a model that this release of ONNX Runtime runs")  # fmt: skip
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    options = parser.parse_args(words)
    output = options.output or options.file.with_suffix(".onnx")
    if options.outline and output.suffix != ".py":
        parser.error("`--outline` is for scripts, not for models")
    try:
        made = convert(options.file, opset=options.opset, state=options.state,
                       dims=dict(options.dim), target=options.target,
                       library=options.library)  # fmt: skip
        if output.suffix == ".py":
            made.save_script(output, outline=options.outline)
        else:
            made.save(output, quiet=options.quiet)
    except (ExportError, OSError, ValueError) as error:
        print(f"error: {str(error).strip()}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
