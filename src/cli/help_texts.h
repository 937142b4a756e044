// What --help says of each command beyond its options.
#pragma once

#include <string_view>

namespace sardonyx::cli {

inline constexpr std::string_view kAbout =
    "ONNX Script as a native toolchain: compiles, checks and runs ONNX functions and models\n"
    "written in Python syntax. No Python interpreter is involved.";

inline constexpr std::string_view kBuildExample =
    "Example:\n"
    "  sardonyx build gelu.py:gelu -o gelu.onnx --input x='FLOAT[2,N]'\n"
    "\n"
    "`-` reads the script from standard input. Without a name after the colon, `build` uses the "
    "script\n"
    "that no other script in the file calls. If there are errors, nothing is written.\n";

inline constexpr std::string_view kRunExample =
    "Examples:\n"
    "  sardonyx run gelu.onnx x='rand:FLOAT[2,4]'\n"
    "  sardonyx run gelu.py:gelu x=x.npy y=3.5 z='[[1, 2], [3, 4]]' -o results\n"
    "\n"
    "An input is a .npy, .npz or .json file, a picture (.png, .jpg and others), a Python literal\n"
    "(with nan and inf), `rand:TYPE`, or `rand` for the type that the model declares. A .npz or "
    ".json file without a name gives several "
    "inputs.\n"
    "The same --seed gives the same random numbers.\n";

inline constexpr std::string_view kCheckExample =
    "Examples:\n"
    "  sardonyx check models/ gelu.onnx --warnings-as-errors\n"
    "  sardonyx check gelu.py --fix\n"
    "\n"
    "Folders are searched for .py and .ipynb files; `-` reads a script from standard input. The "
    "comment\n"
    "`# sardonyx: ignore[CODE]` suppresses a warning on its line.\n"
    "Exit status: 0 no errors, 1 errors, or warnings with --warnings-as-errors, 2 wrong usage.\n";

inline constexpr std::string_view kDumpExample =
    "Example:\n"
    "  sardonyx dump gelu.py:gelu --stage ir\n";

inline constexpr std::string_view kExplainExample =
    "Example:\n"
    "  sardonyx explain unknown-operator\n";

inline constexpr std::string_view kCompletionExample =
    "Examples:\n"
    "  eval \"$(sardonyx completion bash)\"\n"
    "  sardonyx completion fish | source\n"
    "  sardonyx completion man | man -l -\n";

inline constexpr std::string_view kLspExample =
    "Editors start it; docs/editor.md shows how to set them up.\n";

inline constexpr std::string_view kImportExample =
    "Example:\n"
    "  sardonyx import model.pt2 -o model.onnx --dim s77=batch\n"
    "\n"
    "This needs neither PyTorch nor Python. Nothing in the file is executed.\n";

inline constexpr std::string_view kViewExample =
    "Examples:\n"
    "  sardonyx view gelu.onnx\n"
    "  sardonyx view gelu.py:gelu --svg gelu.svg\n"
    "  sardonyx view old.onnx new.onnx\n"
    "  sardonyx view gelu.py --run x='[[1.5, nan]]'\n"
    "\n"
    "Without --html, --svg and --json, the page is served on this machine, at the address that is\n"
    "printed, until Ctrl-C; reload it to see changes of the file. Nothing in the model is "
    "executed\nexcept for --run and --random, which run it: --run takes inputs as `sardonyx run` "
    "does.\n";

inline constexpr std::string_view kDoctorExample =
    "Examples:\n"
    "  sardonyx doctor\n"
    "  sardonyx doctor --json\n"
    "\n"
    "All of them are optional: the program compiles, checks and runs models without them.\n"
    "Python is the one that SARDONYX_PYTHON names, the one beside the program, or `python3` in "
    "the\nPATH.\n";

}  // namespace sardonyx::cli
