#include "cli/python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.h"
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

}  // namespace

std::optional<int> run_in_python(int count, char** words) {
    std::vector<std::string> all(words, words + count);
    auto end = std::find(all.begin(), all.end(), "--");
    auto flag = std::find(all.begin(), end, "--python");
    bool wants_help =
        std::find(all.begin(), end, "--help") != end || std::find(all.begin(), end, "-h") != end;
    if (count < 2 || flag == end || flag == all.begin() + 1 || wants_help) {
        return std::nullopt;
    }
    all.erase(flag);
    const char* named = std::getenv("SARDONYX_PYTHON");
    std::string python = named != nullptr && *named != 0 ? named : "python3";
    std::error_code failed;
    std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", failed);
    ::setenv("SARDONYX_PROGRAM", failed ? words[0] : own.c_str(), 1);
    std::vector<std::string> command{python, "-c", kStart};
    command.insert(command.end(), all.begin() + 1, all.end());
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    print_error(fmt::format("`--python` cannot start `{}`: {}; name Python in SARDONYX_PYTHON",
                            python, std::strerror(errno)));
    return kUsage;
}

}  // namespace sardonyx::cli
