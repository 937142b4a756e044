#include "driver/decompile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "decompile/isomorphic.h"
#include "driver/driver.h"
#include "weights/weights.h"

namespace sardonyx::driver {
namespace {

weights::NamedTensors initializers_of(const ir::Model& model) {
    weights::NamedTensors tensors;
    for (const ir::Value* value : model.graph->initializers) {
        if (value->constant) {
            tensors.emplace_back(std::string(value->name), *value->constant);
        }
    }
    return tensors;
}

// Compiles the text and compares.
Result<void> check_again(const ir::Model& model, const decompile::Options& options,
                         const decompile::Script& script) {
    Request request;
    request.path = "decompiled.py";
    request.text = script.text;
    request.script = script.entry;
    request.read_weights = [&](const std::string&) -> Result<weights::NamedTensors> {
        return options.weights == decompile::Weights::kFile ? script.weights
                                                            : initializers_of(model);
    };
    Compilation compiled = compile(request);
    for (const diagnostics::Diagnostic& finding : compiled.findings().items()) {
        if (finding.kind->severity == diagnostics::Severity::kError) {
            return Error{fmt::format("the model breaks a rule of the language: {} [{}]",
                                     finding.message, finding.kind->code)};
        }
    }
    if (compiled.model == nullptr) {
        return Error{fmt::format("the model has no script: {}", compiled.complaint)};
    }
    std::string problem = decompile::difference(model, *compiled.model);
    return problem.empty()
               ? Result<void>()
               : Error{fmt::format("the language has no words for all of the model: {}", problem)};
}

}  // namespace

Result<decompile::Script> decompile_model(const ir::Model& model,
                                          const decompile::Options& options) {
    if (model.graph == nullptr) {
        return Error{"a file with functions alone has no graph to decompile"};
    }
    if (model.graph->outputs.empty()) {
        return Error{"the graph has no outputs: its script would return nothing"};
    }
    // What a statement becomes depends on types that the compiler sees; a body is always itself.
    // Files say wrong types of their results at times.
    Result<decompile::Script> script = Error{};
    for (int attempt = 0; attempt < 4; ++attempt) {
        decompile::Options one = options;
        one.control_flow = attempt % 2 == 0 ? decompile::ControlFlow::kStatements
                                            : decompile::ControlFlow::kBodies;
        one.annotates_results = attempt < 2;
        Result<decompile::Script> made = decompile::decompile(model, one);
        SDX_TRY(made);
        Result<void> checked = check_again(model, one, *made);
        if (checked.ok()) {
            return made;
        }
        script = attempt < 2 ? Result<decompile::Script>(checked.error()) : script;
    }
    return script;
}

WeightFile weight_file_of(const std::string& script_path) {
    std::filesystem::path path(script_path);
    path.replace_extension(".safetensors");
    return {path.string(), path.filename().string()};
}

Result<void> write_script(const decompile::Script& script, const std::string& script_path,
                          const std::string& weights_path) {
    std::string header;
    std::vector<std::string_view> parts;
    std::vector<FileParts> files;
    if (!script.weights.empty()) {
        Result<std::string> made = weights::safetensors_header(script.weights);
        SDX_TRY(made);
        header = std::move(*made);
        parts.emplace_back(header);
        for (const auto& [name, tensor] : script.weights) {
            parts.emplace_back(reinterpret_cast<const char*>(tensor.bytes().data()),
                               tensor.bytes().size());
        }
        files.push_back({weights_path, parts});
    }
    std::string_view text = script.text;
    if (!script_path.empty()) {
        files.push_back({script_path, std::span(&text, 1)});
    }
    return write_files(files);
}

}  // namespace sardonyx::driver
