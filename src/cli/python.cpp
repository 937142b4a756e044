#include "cli/python.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "cli/overwriting.h"
#include "cli/terminal.h"

namespace sardonyx::cli {

namespace {

// Says what is missing where the package is.
constexpr const char* kStart =
    "import sys\n"
    "try:\n"
    "    from sardonyx._from_file import main\n"
    "except ImportError as error:\n"
    "    sys.exit(f'error: `--python` needs the package sardonyx in {sys.executable}: {error}')\n"
    "sys.exit(main(sys.argv[1], sys.argv[2:]))\n";

// Options of `check` that Python's values have nothing to do with.
std::string complaint(const CheckOptions& options) {
    struct OfTheText {
        const char* option;
        const char* reason;
        bool is_given;
    };
    const OfTheText rows[] = {
        {"--fix", "changes the text of the file", options.fix},
        {"--unsafe-fixes", "changes the text of the file", options.unsafe_fixes},
        {"--diff", "shows changes of the text of the file", options.diff},
        {"--types", "shows the text of the file with its types", options.types},
        {"--sarif", "is about the files as texts", options.format == CheckFormat::kSarif},
        {"--select", "chooses among warnings about the text", !options.select.empty()},
        {"--exclude", "chooses among files in folders", !options.exclude.empty()},
        {"--stdin-filename", "names a text", !options.stdin_name.empty()},
        {"--ignore", "chooses among warnings about the text", !options.ignore.empty()},
    };
    if (std::find(options.paths.begin(), options.paths.end(), kStream) != options.paths.end()) {
        return "`--python` imports files: write the text to one";
    }
    for (const OfTheText& row : rows) {
        if (row.is_given) {
            return fmt::format("`{}` {}: use it without `--python`", row.option, row.reason);
        }
    }
    return {};
}

// What is wrong with the options of a command that Python shall do; empty: nothing.
struct Complaint {
    std::string operator()(const BuildOptions& options) const {
        if (std::string_view words = complaint(options); !words.empty()) {
            return std::string(words);
        }
        if (options.target.is_stdin()) {
            return of(options.target);
        }
        if (options.output == kStream) {
            return "`--python` writes to a file: name it";
        }
        return is_same_file(options.output, options.target.path)
                   ? fmt::format("`{}` is the script itself; write the model to another file",
                                 options.output)
                   : std::string();
    }
    std::string operator()(const CheckOptions& options) const { return complaint(options); }
    std::string operator()(const RunOptions& options) const { return of(options.target); }
    std::string operator()(const LspOptions&) const { return {}; }
    std::string operator()(const DumpOptions& options) const { return of(options.target); }
    std::string operator()(const DecompileOptions& options) const {
        return of({options.model, {}});
    }
    std::string operator()(const ImportOptions&) const { return {}; }
    std::string operator()(const ViewOptions& options) const { return of(options.target); }
    std::string operator()(const Answer&) const { return {}; }
    std::string operator()(const ExplainOptions&) const { return {}; }
    std::string operator()(const DoctorOptions&) const { return {}; }
    // These have no `--python`.
    std::string operator()(const InfoOptions&) const { return {}; }
    std::string operator()(const DiffOptions&) const { return {}; }
    std::string operator()(const EditOptions&) const { return {}; }
    std::string operator()(const WeightsOptions&) const { return {}; }

    static std::string of(const Target& target) {
        if (target.is_stdin()) {
            return "`--python` imports a file: write the text to one";
        }
        return target.is_script() ? std::string()
                                  : "`--python` takes a script file, whose name ends in `.py`";
    }
};

// What a child writes, up to a size; the rest would be read by nobody.
std::string read_all(int from) {
    constexpr size_t kMost = 1 << 16;
    std::string text;
    std::array<char, 4096> piece{};
    while (text.size() < kMost) {
        ssize_t count = read_some(from, piece.data(), piece.size());
        if (count <= 0) {
            break;
        }
        text.append(piece.data(), static_cast<size_t>(count));
    }
    return text;
}

int status_of(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

std::string python_program() {
    const char* named = std::getenv("SARDONYX_PYTHON");
    if (named != nullptr && *named != 0) {
        return named;
    }
    std::error_code failed;
    std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", failed);
    for (const char* name : {"python3", "python"}) {
        std::filesystem::path beside = own.parent_path() / name;
        // A folder of that name passes the second test alone.
        std::error_code unknown;
        if (!failed && std::filesystem::is_regular_file(beside, unknown) &&
            ::access(beside.c_str(), X_OK) == 0) {
            return beside.string();
        }
    }
    return "python3";
}

namespace {

// Runs kStart with these words in sys.argv, and does not return where Python takes over.
int become_python(const std::vector<std::string>& words) {
    std::string python = python_program();
    std::vector<std::string> call{python, "-c", kStart};
    call.insert(call.end(), words.begin(), words.end());
    std::vector<char*> argv;
    argv.reserve(call.size() + 1);
    for (std::string& word : call) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    print_error(fmt::format("`--python` cannot start `{}`: {}; name Python in SARDONYX_PYTHON",
                            python, std::strerror(errno)));
    return kUsage;
}

}  // namespace

int run_in_python(const Command& command, int count, char** words) {
    if (std::string wrong = std::visit(Complaint(), command); !wrong.empty()) {
        print_error(wrong);
        return kUsage;
    }
    std::vector<std::string> all(words, words + count);
    all.erase(std::find(all.begin(), all.end(), "--python"));
    std::error_code failed;
    std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", failed);
    ::setenv("SARDONYX_PROGRAM", failed ? words[0] : own.c_str(), 1);
    return become_python({all.begin() + 1, all.end()});
}

Result<std::string> python_output(const char* code) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return Error{std::strerror(errno)};
    }
    std::string python = python_program(), c = "-c", program = code;
    char* argv[] = {python.data(), c.data(), program.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text = failed == 0 ? read_all(ends[0]) : std::string();
    ::close(ends[0]);
    if (failed != 0) {
        return Error{fmt::format("cannot start `{}`: {}", python, std::strerror(failed))};
    }
    if (status_of(child) != 0) {
        return Error{fmt::format("`{}` failed", python)};
    }
    return text;
}

}  // namespace sardonyx::cli
