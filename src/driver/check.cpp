#include "driver/check.h"

#include <algorithm>
#include <filesystem>

#include "driver/check_model.h"
#include "lint/lint.h"
#include "schemas/schemas.h"
#include "weights/weights.h"

namespace sardonyx::driver {
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

// The types of a script's own names: scripts that it calls show what they are by themselves.
void take_types(elaborate::Program& program, const elaborate::ScriptFunction& script,
                std::vector<diagnostics::Inlay>& types) {
    diagnostics::Span own = script.tree->span(script.definition->range);
    for (diagnostics::Inlay& type : program.types) {
        if (type.span.file == own.file && type.span.begin >= own.begin &&
            type.span.end <= own.end) {
            types.push_back(std::move(type));
        }
    }
}

// Each script as a model where its annotations allow it, which knows the most; when that finds
// nothing, as a function as well. What a script by itself lacks does not count where another one
// has called it: its callers tell.
void check_scripts(elaborate::Program& program, elaborate::FileModule& module,
                   std::vector<diagnostics::Inlay>& types) {
    const elaborate::Options& options = program.file_options;
    struct Found {
        const elaborate::ScriptFunction* script;
        std::vector<diagnostics::Diagnostic> findings;
    };
    std::vector<Found> all;
    diagnostics::Diagnostics& said = program.diagnostics;
    std::vector<std::shared_ptr<elaborate::ScriptFunction>> scripts = elaborate::scripts(module);
    for (const auto& script : scripts) {
        size_t start = said.items().size();
        program.types.clear();
        bool is_model = elaborate::is_model(program, *script, options);
        if (is_model) {
            (void)elaborate::compile_model(program, *script, options);
        }
        size_t known = program.types.size();
        if (said.items().size() == start) {
            (void)elaborate::compile_function(program, *script, options);
        }
        if (is_model) {
            program.types.resize(known);
        }
        take_types(program, *script, types);
        all.push_back(
            {script.get(),
             {said.items().begin() + static_cast<std::ptrdiff_t>(start), said.items().end()}});
        said.truncate(start);
    }
    for (const Found& one : all) {
        if (program.called.count(one.script) == 0) {
            for (const diagnostics::Diagnostic& finding : one.findings) {
                said.add(finding);
            }
        }
    }
}

bool is_told(const CheckRequest& request, const diagnostics::Diagnostic& one) {
    auto lists = [&one](const std::vector<std::string>& codes) {
        return std::find(codes.begin(), codes.end(), one.kind->code) != codes.end();
    };
    return one.kind->severity == diagnostics::Severity::kError ||
           ((request.select.empty() || lists(request.select)) && !lists(request.ignore));
}

}  // namespace

std::vector<CheckedFile> files_to_check(const std::vector<std::string>& paths) {
    std::vector<CheckedFile> files;
    for (const std::string& path : paths) {
        std::error_code failed;
        if (!fs::is_directory(path, failed)) {
            files.push_back({path, is_script_path(path), std::nullopt});
            continue;
        }
        for (const std::string& script : scripts_under(path)) {
            files.push_back({script, true, std::nullopt});
        }
    }
    return files;
}

Checked check(const CheckRequest& request) {
    Checked checked{std::make_unique<elaborate::Program>(weights::read_weights),
                    std::make_unique<ops::SchemaSet>(),
                    {},
                    {}};
    elaborate::Program& program = *checked.program;
    program.wants_types = request.wants_types;
    for (const std::string& path : request.schemas) {
        schemas::load_schemas(path, program.sources, program.diagnostics, *checked.schemas);
    }
    program.file_options.schemas = checked.schemas.get();
    // All texts that are at hand come first: files import each other.
    for (const CheckedFile& file : request.files) {
        if (file.text) {
            (void)elaborate::load_text(program, fs::path(file.path).lexically_normal().string(),
                                       *file.text);
        }
    }
    for (const CheckedFile& file : request.files) {
        if (!file.is_script) {
            check_model(program, file.path, checked.schemas.get());
            continue;
        }
        elaborate::FileModule* module = elaborate::load_file(program, file.path);
        bool is_new = module != nullptr && std::find(checked.modules.begin(), checked.modules.end(),
                                                     module) == checked.modules.end();
        if (is_new) {
            checked.modules.push_back(module);
            check_scripts(program, *module, checked.types);
            lint::lint_file(program, *module);
        }
    }
    lint::apply_ignores(program, checked.modules);
    program.diagnostics.keep_if(
        [&request](const diagnostics::Diagnostic& one) { return is_told(request, one); });
    return checked;
}

}  // namespace sardonyx::driver
