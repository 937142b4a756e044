// sardonyx check: findings about scripts and models.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/check_model.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "diagnostics/render.h"

namespace sardonyx::cli {
namespace {

namespace fs = std::filesystem;

bool is_script_path(const fs::path& path) {
    return path.extension() == ".py";
}

// The scripts under a folder, sorted; hidden folders and caches are left out, links not followed.
std::vector<std::string> scripts_under(const fs::path& folder) {
    std::vector<std::string> found;
    std::error_code failed;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                        failed);
    for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
        std::string name = at->path().filename().string();
        std::error_code ignored;
        if (name[0] == '.' || name == "__pycache__") {
            at.disable_recursion_pending();
        } else if (is_script_path(at->path()) && at->is_regular_file(ignored)) {
            found.push_back(at->path().string());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

// Each script as a model where its annotations allow it, which knows the most; when that finds
// nothing, as a function as well. What a script by itself lacks does not count where another one
// has called it: its callers tell.
void check_script(elaborate::Program& program, const std::string& path) {
    elaborate::FileModule* module = elaborate::load_file(program, path);
    if (module == nullptr) {
        return;
    }
    struct Checked {
        const elaborate::ScriptFunction* script;
        std::vector<diagnostics::Diagnostic> found;
    };
    std::vector<Checked> all;
    diagnostics::Diagnostics& said = program.diagnostics;
    std::vector<std::shared_ptr<elaborate::ScriptFunction>> scripts = elaborate::scripts(*module);
    for (const auto& script : scripts) {
        size_t start = said.items().size();
        (void)api::try_model(program, *script, {});
        if (said.items().size() == start) {
            (void)elaborate::compile_function(program, *script, {});
        }
        all.push_back(
            {script.get(),
             {said.items().begin() + static_cast<std::ptrdiff_t>(start), said.items().end()}});
        said.truncate(start);
    }
    for (const Checked& one : all) {
        if (program.called.count(one.script) == 0) {
            for (const diagnostics::Diagnostic& finding : one.found) {
                said.report(*finding.kind, {}, {}) = finding;
            }
        }
    }
}

std::string report(CheckFormat format, const elaborate::Program& program) {
    switch (format) {
        case CheckFormat::kJson:
            return diagnostics::render_json(program.sources, program.diagnostics);
        case CheckFormat::kSarif:
            return diagnostics::render_sarif(program.sources, program.diagnostics);
        case CheckFormat::kText:
            break;
    }
    return program.diagnostics.items().empty()
               ? std::string()
               : render_findings(program.sources, program.diagnostics);
}

bool has_warnings(const diagnostics::Diagnostics& diagnostics) {
    return std::any_of(diagnostics.items().begin(), diagnostics.items().end(),
                       [](const diagnostics::Diagnostic& one) {
                           return one.kind->severity == diagnostics::Severity::kWarning;
                       });
}

}  // namespace

int run_check(const CheckOptions& options) {
    elaborate::Program program;
    for (const std::string& path : options.paths) {
        std::error_code failed;
        if (fs::is_directory(path, failed)) {
            for (const std::string& script : scripts_under(path)) {
                check_script(program, script);
            }
        } else if (is_script_path(path)) {
            check_script(program, path);
        } else {
            check_model(program, path);
        }
    }
    print(report(options.format, program));
    bool fails = program.diagnostics.has_errors() ||
                 (options.warnings_as_errors && has_warnings(program.diagnostics));
    return fails ? kFailure : kSuccess;
}

}  // namespace sardonyx::cli
