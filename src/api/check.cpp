#include "api/check.h"

#include <algorithm>

#include "api/convert.h"
#include "diagnostics/render.h"
#include "driver/check.h"

namespace sardonyx {
namespace api {

Report check_files(const std::vector<std::string>& paths, const CheckOptions& options) {
    driver::CheckRequest request;
    for (const ScriptText& script : options.texts) {
        request.files.push_back({script.path, true, script.text});
    }
    for (driver::CheckedFile& file : driver::find_files(paths, {}).files) {
        bool has_text = std::any_of(options.texts.begin(), options.texts.end(),
                                    [&](const ScriptText& one) { return one.path == file.path; });
        if (!has_text) {
            request.files.push_back(std::move(file));
        }
    }
    request.schemas = options.schemas;
    request.select = options.select;
    request.ignore = options.ignore;
    driver::Checked checked = driver::check(request);
    const elaborate::Program& program = *checked.program;
    return {from_engine(program.sources, program.diagnostics),
            diagnostics::render_terminal(program.sources, program.diagnostics, {})};
}

}  // namespace api

inline namespace v1 {

std::vector<Diagnostic> check_files(const std::vector<std::string>& paths,
                                    const CheckOptions& options) {
    return api::check_files(paths, options).findings;
}

}  // namespace v1
}  // namespace sardonyx
