#include "cli/script.h"

#include "cli/terminal.h"
#include "schemas/schemas.h"

namespace sardonyx::cli {

LoadedScript load_script(elaborate::Program& program, const Target& target) {
    elaborate::FileModule* module = elaborate::load_file(program, target.path);
    if (module == nullptr) {
        print_findings(program.sources, program.diagnostics);
        return {nullptr, module, kFailure};
    }
    Result<std::shared_ptr<elaborate::ScriptFunction>> script =
        api::choose_script(program, *module, target.name);
    if (script.ok()) {
        return {*script, module, kSuccess};
    }
    // A file that could not be parsed may have lost its scripts: the findings say more.
    if (program.diagnostics.has_errors()) {
        print_findings(program.sources, program.diagnostics);
        return {nullptr, module, kFailure};
    }
    print_error(script.error().message);
    return {nullptr, module, kUsage};
}

bool load_schema_files(elaborate::Program& program, const std::vector<std::string>& paths,
                       ops::SchemaSet& schemas) {
    for (const std::string& path : paths) {
        schemas::load_schemas(path, program.sources, program.diagnostics, schemas);
    }
    if (program.diagnostics.has_errors()) {
        print_findings(program.sources, program.diagnostics);
        return false;
    }
    return true;
}

std::optional<elaborate::Options> compile_options(const api::OptionTexts& texts) {
    Result<elaborate::Options> options = api::read_options(texts);
    if (!options.ok()) {
        print_error(options.error().message);
        return std::nullopt;
    }
    return std::move(*options);
}

}  // namespace sardonyx::cli
