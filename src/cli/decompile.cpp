// sardonyx decompile: a model to a script.
#include "driver/decompile.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "proto/proto.h"

namespace sardonyx::cli {
namespace {

bool is_same_path(const std::string& one, const std::string& other) {
    std::error_code failed;
    return std::filesystem::equivalent(one, other, failed) && !failed;
}

std::string_view complaint(const DecompileOptions& options) {
    Target target{options.model, {}};
    if (target.is_script() && !target.is_stdin()) {
        return "`decompile` takes a model; a script is what it writes";
    }
    if (is_same_path(options.model, options.output)) {
        return "the output would overwrite the model: name another file";
    }
    return {};
}

// A pipe cannot be read once more when the script is built.
bool is_regular(const std::string& path) {
    std::error_code failed;
    return std::filesystem::is_regular_file(path, failed) && !failed;
}

Result<void> decompile_file(const DecompileOptions& options) {
    FileStamps files;
    bool is_stdin = Target{options.model, {}}.is_stdin();
    Result<std::unique_ptr<ir::Model>> model =
        proto::read_model_file(is_stdin ? "/dev/stdin" : options.model, &files);
    SDX_TRY(model);
    bool is_file = options.output != "-";
    driver::WeightFile weights;
    decompile::Options how;
    how.source = is_stdin ? "" : std::filesystem::path(options.model).filename().string();
    if (is_file) {
        weights = driver::weight_file_of(options.output);
        how.weights = decompile::Weights::kFile;
        how.weights_path = weights.name;
    } else {
        how.weights = is_regular(options.model) ? decompile::Weights::kReference
                                                : decompile::Weights::kLiterals;
        how.weights_path = options.model;
    }
    std::optional<MappedReading> reading(files);
    Result<decompile::Script> script = driver::decompile_model(**model, how);
    SDX_TRY(check_unchanged(files));
    SDX_TRY(script);
    if (!is_file) {
        print(script->text);
        return {};
    }
    SDX_TRY(driver::write_script(*script, options.output, weights.path));
    print(fmt::format("{}: script `{}`{}\n", options.output, script->entry,
                      script->weights.empty() ? "" : ", weights in " + weights.path));
    return check_unchanged(files);
}

}  // namespace

int run_decompile(const DecompileOptions& options) {
    if (std::string_view words = complaint(options); !words.empty()) {
        print_error(words);
        return kUsage;
    }
    Result<void> done = decompile_file(options);
    if (!done.ok()) {
        print_error(done.error().message);
        return kFailure;
    }
    return kSuccess;
}

}  // namespace sardonyx::cli
