// sardonyx doctor: the program, the machine, libraries and Python packages as they were found.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#if __has_include(<gnu/libc-version.h>)
#include <gnu/libc-version.h>
#endif

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/python.h"
#include "cli/terminal.h"
#include "diagnostics/glyphs.h"
#include "eval/libraries.h"
#include "weights/weights.h"

namespace sardonyx::cli {
namespace {

// One thing that was looked for.
struct Finding {
    std::string name;
    std::string state;  // what was found of it; empty: nothing
    std::string purpose;
    std::string install;  // a command, for when it is missing
};

struct Report {
    std::vector<Finding> machine;  // always found
    std::vector<Finding> libraries;
    std::vector<Finding> python;  // the first is the interpreter
};

// --- The machine ---------------------------------------------------------------------------------

std::string own_path() {
    std::error_code failed;
    std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", failed);
    return failed ? std::string("?") : own.string();
}

std::string system_words() {
    utsname names{};
    std::string words =
        ::uname(&names) == 0 ? fmt::format("{} {}", names.sysname, names.machine) : "?";
#if __has_include(<gnu/libc-version.h>)
    words += fmt::format(", glibc {}", ::gnu_get_libc_version());
#endif
    return words;
}

#if defined(__x86_64__) && defined(__GNUC__)
#define SDX_FEATURE(name) \
    { name, __builtin_cpu_supports(name) != 0 }
#endif

std::string processor_words() {
    std::string words;
#ifdef SDX_FEATURE
    struct Feature {
        const char* name;
        bool is_there;
    };
    const Feature features[] = {
        SDX_FEATURE("sse4.2"),   SDX_FEATURE("avx"),      SDX_FEATURE("avx2"),
        SDX_FEATURE("fma"),      SDX_FEATURE("avx512f"),  SDX_FEATURE("avx512bw"),
        SDX_FEATURE("avx512dq"), SDX_FEATURE("avx512vl"), SDX_FEATURE("avx512vnni"),
    };
    for (const Feature& feature : features) {
        words += feature.is_there ? std::string(words.empty() ? "" : " ") + feature.name : "";
    }
#endif
    if (std::string_view loops = eval::loops_instruction_set(); !loops.empty()) {
        words += fmt::format("{}loops for {}", words.empty() ? "" : "; ", loops);
    }
    return fmt::format("{}{}{} threads", words, words.empty() ? "" : "; ",
                       std::max(1U, std::thread::hardware_concurrency()));
}

std::vector<Finding> find_libraries() {
    std::vector<Finding> found;
    for (const eval::OptionalLibrary& one : eval::optional_libraries()) {
        found.push_back({std::string(one.name), one.is_found ? "found" : "",
                         std::string(one.purpose), fmt::format("apt install {}", one.package)});
    }
    found.push_back({"zlib", weights::has_zlib() ? "found" : "", "compressed .npz files",
                     "apt install zlib1g"});
    return found;
}

// --- Python --------------------------------------------------------------------------------------

// Prints a line for the interpreter and one for each package: its name, a tab, and its version or,
// after another tab, why it cannot be imported. PyTorch, which takes seconds, is only looked up.
constexpr const char* kPackages = R"py(
import importlib, importlib.util, os, sys
out = os.dup(1)
os.dup2(2, 1)
def say(*words):
    os.write(out, ("\t".join(str(w).replace("\n", " ").replace("\t", " ") for w in words) + "\n").encode())
say("python", "%d.%d.%d" % sys.version_info[:3] + ", " + sys.executable)
for name in "sardonyx numpy onnx onnxruntime ml_dtypes torch".split():
    try:
        if name == "torch":
            import importlib.metadata
            found = importlib.util.find_spec(name) is not None
            say(name, importlib.metadata.version(name) if found else "")
            continue
        say(name, getattr(importlib.import_module(name), "__version__", None) or "found")
    except ModuleNotFoundError as error:
        say(name, "", "" if error.name == name else error)
    except BaseException as error:
        say(name, "", type(error).__name__ + ": " + str(error))
)py";

struct Package {
    std::string_view name;
    std::string_view purpose;
    std::string_view install;
};

constexpr Package kKnown[] = {
    {"sardonyx", "--python, --compare, import", "pip install the wheel of this program"},
    {"numpy", "the Python package", "pip install numpy"},
    {"onnx", "models as onnx.ModelProto, --compare reference", "pip install onnx"},
    {"onnxruntime", "--compare onnxruntime", "pip install onnxruntime"},
    {"ml_dtypes", "arrays of bfloat16, float8 and 4-bit types", "pip install ml_dtypes"},
    {"torch", "models from PyTorch modules", "pip install torch"},
};

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (size_t start = 0; start <= text.size();) {
        size_t end = std::min(text.find(at, start), text.size());
        parts.emplace_back(text.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

std::vector<Finding> find_python() {
    Result<std::string> said = python_output(kPackages);
    std::vector<std::string> lines = said.ok() ? split(*said, '\n') : std::vector<std::string>();
    Finding interpreter{"python", "", "--python, --compare, import",
                        "apt install python3, or name one in SARDONYX_PYTHON"};
    std::vector<Finding> found{interpreter};
    if (!said.ok()) {
        found[0].purpose += fmt::format(" ({})", said.error().message);
        return found;
    }
    for (const Package& package : kKnown) {
        found.push_back({std::string(package.name), "", std::string(package.purpose),
                         std::string(package.install)});
    }
    for (const std::string& line : lines) {
        std::vector<std::string> words = split(line, '\t');
        auto one = std::find_if(found.begin(), found.end(),
                                [&](const Finding& known) { return known.name == words[0]; });
        if (one == found.end() || words.size() < 2) {
            continue;
        }
        one->state = words[1];
        if (words.size() > 2 && !words[2].empty()) {
            one->purpose += fmt::format(" (it is there and fails: {})", words[2]);
        }
    }
    return found;
}

// --- As text and as JSON -------------------------------------------------------------------------

std::string section_text(std::string_view title, const std::vector<Finding>& findings) {
    std::string text = fmt::format("{}\n", title);
    for (const Finding& one : findings) {
        std::string words = !one.state.empty()
                                ? one.state
                                : fmt::format("missing; for {}: {}", one.purpose, one.install);
        text += fmt::format("  {:<13} {}\n", one.name, diagnostics::visible(words));
    }
    return text;
}

std::string section_json(std::string_view title, const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& one : findings) {
        text +=
            fmt::format(R"({}    {{"name": {}, "found": {})", text.empty() ? "" : ",\n",
                        json_string(one.name), one.state.empty() ? "null" : json_string(one.state));
        if (!one.purpose.empty()) {
            text += fmt::format(R"(, "purpose": {}, "install": {})", json_string(one.purpose),
                                json_string(one.install));
        }
        text += "}";
    }
    return fmt::format("  {}: [\n{}\n  ]", json_string(title), text);
}

}  // namespace

int run_doctor(const DoctorOptions& options) {
    Report report{{{"sardonyx", SDX_VERSION, "", ""},
                   {"program", own_path(), "", ""},
                   {"system", system_words(), "", ""},
                   {"processor", processor_words(), "", ""}},
                  find_libraries(),
                  find_python()};
    if (options.json) {
        print(fmt::format("{{\n{},\n{},\n{}\n}}\n", section_json("machine", report.machine),
                          section_json("libraries", report.libraries),
                          section_json("python", report.python)));
        return kSuccess;
    }
    print(section_text("Machine", report.machine) + section_text("Libraries", report.libraries) +
          section_text("Python", report.python));
    return kSuccess;
}

}  // namespace sardonyx::cli
