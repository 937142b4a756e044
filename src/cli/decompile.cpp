// sardonyx decompile: a model to a script.
#include "driver/decompile.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "cli/overwriting.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "proto/as_read.h"

namespace sardonyx::cli {
namespace {

std::string_view decompile_complaint(const DecompileOptions& options) {
    if (options.model != kStream && Target{options.model}.is_script()) {
        return "`decompile` reads a model, not a script";
    }
    if (is_same_file(options.model, options.output)) {
        return "the output would overwrite the model: name another file";
    }
    return {};
}

// A pipe cannot be read once more when the script is built.
bool is_regular(const std::string& path) {
    std::error_code failed;
    return std::filesystem::is_regular_file(path, failed) && !failed;
}

// In the text form of onnx, with its weights.
Result<void> write_text(const DecompileOptions& options) {
    SDX_ASSIGN(ModelFile file, load_model(options.model));
    MappedReading reading(file.stamps);
    SDX_TRY(keep_inputs(file.external, {options.output}));
    Result<size_t> size =
        save_model(*file.model,
                   {.path = options.output, .is_quiet = true, .form = proto::Form::kOnnxText}, {});
    SDX_TRY(check_unchanged(file.stamps));
    SDX_TRY(size);
    return {};
}

Result<void> decompile_file(const DecompileOptions& options) {
    FileStamps files;
    std::vector<std::string> external;
    bool is_stdin = options.model == kStream;
    proto::Source source;
    Result<std::unique_ptr<ir::Model>> model =
        proto::read_model_file(is_stdin ? "/dev/stdin" : options.model,
                               {.stamps = &files, .external = &external, .source = &source});
    SDX_TRY(model);
    bool is_file = options.output != kStream;
    driver::WeightFile weights;
    if (is_file) {
        weights = driver::weight_file_of(options.output);
    }
    decompile::Options how =
        driver::decompile_options(is_regular(options.model) ? options.model : "", weights.name);
    how.source = is_stdin ? "" : std::filesystem::path(options.model).filename().string();
    driver::ScriptStyle style = options.to == "cpp" ? driver::ScriptStyle::kProgram
                                : options.outline   ? driver::ScriptStyle::kOutlined
                                : options.exact     ? driver::ScriptStyle::kExact
                                                    : driver::ScriptStyle::kPlain;
    std::optional<MappedReading> reading(files);
    Result<decompile::Script> script = driver::decompile_as(style, **model, how, source);
    SDX_TRY(check_unchanged(files));
    SDX_TRY(script);
    if (is_file) {
        SDX_TRY(keep_inputs(external, {options.output, weights.path}));
    }
    if (!is_file) {
        print(script->text);
        return {};
    }
    SDX_TRY(driver::write_script(*script, options.output, weights.path));
    ignore_interrupts();
    std::string what =
        script->entry.empty()
            ? "a library"
            : fmt::format("{} `{}`", options.to == "cpp" ? "program" : "script", script->entry);
    print(fmt::format("{}: {}{}\n", options.output, what,
                      script->weights.empty() ? "" : ", weights in " + weights.path));
    return check_unchanged(files);
}

}  // namespace

int run_decompile(const DecompileOptions& options) {
    return status_of(decompile_complaint(options), [&options] {
        return options.to == "text" ? write_text(options) : decompile_file(options);
    });
}

}  // namespace sardonyx::cli
