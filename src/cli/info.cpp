// sardonyx info: what a model is, and what a run costs.
#include <optional>

#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/model_file.h"
#include "cli/terminal.h"

namespace sardonyx::cli {
namespace {

int show_info(const ir::Model& model, const InfoOptions& options, const FileStamps& stamps) {
    std::optional<MappedReading> reading(stamps);
    Result<models::Info> info = models::describe(model, options.sizes);
    reading.reset();
    Result<void> unchanged = check_unchanged(stamps);
    if (!info.ok() || !unchanged.ok()) {
        print_error(info.ok() ? unchanged.error().message : info.error().message);
        return kFailure;
    }
    print(options.json ? models::info_json(*info) : models::info_text(*info, options.nodes));
    return kSuccess;
}

}  // namespace

int run_info(const InfoOptions& options) {
    if (options.target.is_script()) {
        std::optional<driver::Request> request = request_of(options.target, {}, {});
        if (!request) {
            return kUsage;
        }
        driver::Compilation compiled = driver::compile(*request);
        print_findings(compiled.sources(), compiled.findings());
        return compiled.has_failed() ? failure_of(compiled)
                                     : show_info(*compiled.model, options, {});
    }
    if (!options.target.name.empty()) {
        print_error("`:NAME` is for scripts, whose names end in `.py`");
        return kUsage;
    }
    Result<ModelFile> file = load_model(options.target.path);
    if (!file.ok()) {
        print_error(file.error().message);
        return kFailure;
    }
    return show_info(*file->model, options, file->stamps);
}

}  // namespace sardonyx::cli
