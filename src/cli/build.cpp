// sardonyx build: a script to a .onnx file.
#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/terminal.h"
#include "proto/proto.h"

namespace sardonyx::cli {
namespace {

std::string summary(const BuildOptions& options, std::string_view name, const ir::Model& model,
                    size_t size) {
    const ir::Graph& graph = options.as_function ? *model.functions[0]->body : *model.graph;
    size_t nodes = 0;
    for (const ir::Node& node : graph) {
        nodes += node.graph() == &graph ? 1 : 0;
    }
    return fmt::format("{}: `{}` as a {} of {} node{}, {} bytes\n", options.output, name,
                       options.as_function ? "function" : "model", nodes, nodes == 1 ? "" : "s",
                       size);
}

// What is wrong with the options together; empty: nothing.
std::string_view complaint(const BuildOptions& options) {
    if (!options.target.is_script()) {
        return "`build` takes a script file, whose name ends in `.py`";
    }
    if (options.as_function && !options.texts.input_types.empty()) {
        return "a function takes inputs of any type: use `--input` without `--function`";
    }
    if (options.as_function && options.external_bytes != 0) {
        return "a function has no initializers: use `--external-data` without `--function`";
    }
    if (options.as_function && !options.texts.attributes.empty()) {
        return "a function keeps its attribute parameters: use `--attribute` without `--function`";
    }
    return {};
}

// Writes the model, and its large initializers beside it; their size in bytes.
Result<size_t> write_output(const BuildOptions& options, const ir::Model& model) {
    proto::External external;
    external.smallest = options.external_bytes;
    external.location = std::filesystem::path(options.output).filename().string() + ".data";
    Result<std::string> bytes = options.as_function
                                    ? proto::write_function(model, *model.functions[0])
                                    : proto::write_model(model, &external);
    SDX_TRY(bytes);
    size_t size = bytes->size();
    if (!external.parts.empty()) {
        std::filesystem::path beside(options.output);
        beside.replace_filename(external.location);
        SDX_TRY(write_file(beside.string(), external.parts));
        for (std::string_view part : external.parts) {
            size += part.size();
        }
    }
    SDX_TRY(write_file(options.output, *bytes));
    return size;
}

}  // namespace

int run_build(const BuildOptions& options) {
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
    driver::Compilation compiled = driver::compile(*request);
    print_findings(compiled.sources(), compiled.findings());
    if (compiled.has_failed()) {
        return failure_of(compiled);
    }
    const ir::Model* model = compiled.model.get();
    Result<size_t> size = write_output(options, *model);
    if (!size.ok()) {
        print_error(size.error().message);
        return kFailure;
    }
    print(summary(options, compiled.script->name, *model, *size));
    return kSuccess;
}

}  // namespace sardonyx::cli
