// sardonyx build: a script to a .onnx file.
#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/model_file.h"
#include "cli/overwriting.h"
#include "cli/terminal.h"
#include "driver/decompile.h"
#include "driver/model_files.h"
#include "driver/progress_bar.h"
#include "models/like.h"
#include "proto/proto.h"

namespace sardonyx::cli {
namespace {

std::string build_summary(const BuildOptions& options, std::string_view name,
                          const ir::Model& model, size_t size) {
    const ir::Graph& graph = options.as_function ? *model.functions[0]->body : *model.graph;
    size_t nodes = 0;
    for (const ir::Node& node : graph) {
        nodes += node.graph() == &graph ? 1 : 0;
    }
    return fmt::format("{}: `{}` as a {} of {} node{}, {} bytes\n", options.output, name,
                       options.as_function ? "function" : "model", nodes, nodes == 1 ? "" : "s",
                       size);
}

std::string library_summary(const BuildOptions& options, const ir::Model& model, size_t size) {
    size_t count = model.functions.size();
    return fmt::format("{}: a library of {} function{}, {} bytes\n", options.output, count,
                       count == 1 ? "" : "s", size);
}

std::string data_path(const std::string& output) {
    return output + ".data";
}

// The file of the compilation that a file to write is, by this or another path to it, or by
// another of its names; empty: none.
std::string file_read(const driver::Compilation& compiled, const std::string& output) {
    for (const std::string& path : compiled.files()) {
        for (const std::string& one : {path, data_path(path)}) {  // the weights of a model
            if (is_same_file(one, output)) {
                return one;
            }
        }
    }
    return {};
}

// Why the output must not be written; empty: it may.
std::string refusal(const BuildOptions& options, const driver::Compilation& compiled) {
    std::vector<std::string> outputs{options.output};
    if (options.external_bytes != 0) {
        outputs.push_back(data_path(options.output));
    }
    for (const std::string& output : outputs) {
        if (std::string file = file_read(compiled, output); !file.empty()) {
            return fmt::format(
                "`{}` would overwrite `{}`, which the script is made from; write "
                "another file",
                output, file);
        }
    }
    return {};
}

// Writes the model, and its large initializers beside it; their size in bytes.
Result<size_t> write_output(const BuildOptions& options, std::unique_ptr<ir::Model>& made,
                            const proto::Source& source) {
    if (!options.like.empty()) {
        SDX_ASSIGN(ModelFile like, load_model(options.like));
        MappedReading reading(like.stamps);
        models::make_like(made, *like.model, driver::difference);
        SDX_TRY(check_unchanged(like.stamps));
        return save_model(*made, {options.output, options.external_bytes, options.quiet}, {&like});
    }
    const ir::Model& model = *made;
    if (options.output != kStream && !options.as_function) {
        driver::SavingBar bar(options.quiet);
        driver::SaveOptions how;
        how.external_bytes = options.external_bytes;
        how.source = source;
        how.watch = bar.watch();
        SDX_ASSIGN(size_t size, driver::write_model_files(model, options.output, how));
        ignore_interrupts();
        return size;
    }
    Result<std::string> bytes = options.as_function
                                    ? proto::write_function(model, *model.functions[0])
                                    : proto::write_as_read(model, source);
    SDX_TRY(bytes);
    if (options.output == kStream) {
        print(*bytes);
    } else {
        SDX_TRY(write_file(options.output, *bytes));
    }
    return bytes->size();
}

}  // namespace

std::string_view complaint(const BuildOptions& options) {
    if (!options.target.is_script()) {
        return "`build` takes a script file, whose name ends in `.py`";
    }
    bool is_chosen = !options.target.name.empty() || options.as_function ||
                     !options.texts.input_types.empty() || !options.texts.attributes.empty() ||
                     options.texts.ir_version != 0 || !options.like.empty();
    if (options.as_library && is_chosen) {
        return "`--library` takes all scripts as they are: use it without a name, `--function`, "
               "`--input`, `--attribute`, `--ir-version` and `--like`";
    }
    if (options.as_function && !options.texts.input_types.empty()) {
        return "a function takes inputs of any type: use `--input` without `--function`";
    }
    if (options.as_function && !options.like.empty()) {
        return "`--like` is for models: use it without `--function`";
    }
    if (options.as_function && options.external_bytes != 0) {
        return "a function has no initializers: use `--external-data` without `--function`";
    }
    if (options.as_function && !options.texts.attributes.empty()) {
        return "a function keeps its attribute parameters: use `--attribute` without `--function`";
    }
    if (options.as_function && proto::form_of_path(options.output) != proto::Form::kBytes) {
        return "a function is written as bytes: name a file that ends in `.onnx`";
    }
    if (options.output == kStream && options.external_bytes != 0) {
        return "`--external-data` needs a file for the model, not standard output";
    }
    return {};
}

int run_build(const BuildOptions& options) {
    std::error_code failed;
    const std::string& path = options.target.path;
    bool is_model = std::filesystem::path(path).extension() == ".onnx";
    bool is_there = options.target.is_stdin() || std::filesystem::exists(path, failed);
    if (!options.target.is_script() && !is_model && !is_there) {
        print_error(fmt::format("cannot open `{}`: {}", path,
                                failed ? failed.message() : "there is no such file"));
        return kFailure;
    }
    if (std::string_view words = complaint(options); !words.empty()) {
        print_error(words);
        return kUsage;
    }
    std::optional<driver::Request> request =
        request_of(options.target, options.texts, options.schemas);
    if (!request) {
        return kUsage;
    }
    request->form = options.as_function ? driver::Form::kFunction : driver::Form::kModel;
    driver::Compilation compiled =
        options.as_library ? driver::compile_library(*request) : driver::compile(*request);
    print_findings(compiled.sources(), compiled.findings());
    if (compiled.has_failed()) {
        return failure_of(compiled);
    }
    if (std::string words = refusal(options, compiled); !words.empty()) {
        print_error(words);
        return kUsage;
    }
    const ir::Model* model = compiled.model.get();
    Result<size_t> size = write_output(options, compiled.model, compiled.source);
    model = compiled.model.get();
    if (!size.ok()) {
        print_error(size.error().message);
        return kFailure;
    }
    if (options.output != kStream && !options.quiet) {
        print(options.as_library ? library_summary(options, *model, *size)
                                 : build_summary(options, compiled.script->name, *model, *size));
    }
    return kSuccess;
}

}  // namespace sardonyx::cli
