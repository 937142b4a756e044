// Checks: the findings about scripts and models, of which nothing is made.
#pragma once

#include <sardonyx/diagnostic.h>
#include <sardonyx/export.h>

#include <string>
#include <vector>

namespace sardonyx {
inline namespace v1 {

// A script as an editor holds it, in place of what the file of this path holds.
struct ScriptText {
    std::string path;
    std::string text;
};

struct CheckOptions {
    std::vector<ScriptText> texts = {};     // checked like the paths, which need not name them
    std::vector<std::string> schemas = {};  // files with operators of other domains
    std::vector<std::string> select = {};   // the only codes to tell, errors aside; empty: all
    std::vector<std::string> ignore = {};   // codes not to tell
};

// All scripts of the files, and models (.onnx); a folder stands for the scripts under it. The
// findings are those of `sardonyx check`, in the order of the files: a file that cannot be read is
// among them, and nothing is thrown for it.
SDX_API std::vector<Diagnostic> check_files(const std::vector<std::string>& paths,
                                            const CheckOptions& options = {});

}  // namespace v1
}  // namespace sardonyx
