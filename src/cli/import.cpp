#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/python.h"

namespace sardonyx::cli {

namespace {

constexpr const char* kImport =
    "import sys\n"
    "try:\n"
    "    from sardonyx.torch.__main__ import main\n"
    "except ImportError as error:\n"
    "    sys.exit(f'error: `import` needs the package sardonyx in {sys.executable}: {error}')\n"
    "sys.exit(main(sys.argv[1:]))\n";

}  // namespace

int run_import(const ImportOptions& options) {
    std::vector<std::string> words{"--output=" + options.output};
    if (options.opset) {
        words.push_back("--opset=" + std::to_string(*options.opset));
    }
    for (const std::string& dim : options.dims) {
        words.push_back("--dim=" + dim);
    }
    if (!options.state.empty()) {
        words.push_back("--state=" + options.state);
    }
    if (options.quiet) {
        words.emplace_back("--quiet");
    }
    words.insert(words.end(), {"--", options.model});
    return become_python("`import`", kImport, words);
}

}  // namespace sardonyx::cli
