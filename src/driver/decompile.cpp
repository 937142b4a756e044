#include "driver/decompile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/quote.h"
#include "base/write_file.h"
#include "decompile/cpp.h"
#include "decompile/facts.h"
#include "decompile/isomorphic.h"
#include "driver/driver.h"
#include "elaborate/emit/names.h"
#include "infer/infer.h"
#include "ir/copy.h"
#include "ir/sparse.h"
#include "models/exact.h"
#include "models/inline.h"
#include "models/outline.h"
#include "proto/proto.h"
#include "syntax/parse.h"
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

// What the text compiles to.
Result<std::unique_ptr<ir::Model>> compile_script_text(const ir::Model& model,
                                                       const decompile::Options& options,
                                                       const decompile::Script& script,
                                                       proto::Source* source = nullptr) {
    constexpr size_t kMostBytes = syntax::Limits().bytes;
    if (script.text.size() > kMostBytes && options.weights != decompile::Weights::kFile) {
        return Error{
            fmt::format("the script would have {} bytes, since weights are literals in it, "
                        "and can have {}: write them to a file of their own (`-o FILE.py`, "
                        "in Python `weights=`)",
                        script.text.size(), kMostBytes)};
    }
    Request request;
    request.path = "decompiled.py";
    request.text = script.text;
    request.script = script.entry;
    request.read_weights = [&](const std::string&) -> Result<weights::NamedTensors> {
        return options.weights == decompile::Weights::kFile ? script.weights
                                                            : initializers_of(model);
    };
    bool is_library = decompile::is_library(model);
    Compilation compiled = is_library ? compile_library(request) : compile(request);
    for (const diagnostics::Diagnostic& finding : compiled.findings().items()) {
        if (finding.kind->severity == diagnostics::Severity::kError) {
            return Error{fmt::format("the model breaks a rule of the language: {} [{}]",
                                     finding.message, finding.kind->code)};
        }
    }
    if (compiled.model == nullptr) {
        return Error{fmt::format("the model has no script: {}", compiled.complaint)};
    }
    if (source != nullptr) {
        *source = std::move(compiled.source);
    }
    return std::move(compiled.model);
}

// Dense tensors for sparse ones, which scripts do not have, if they are not too large.
std::unique_ptr<ir::Model> dense_copy(const ir::Model& model) {
    std::unique_ptr<ir::Model> copy = ir::copy(model);
    (void)ir::make_dense(*copy);
    return copy;
}

// Without the nodes and the values of loops that no result needs, as the compiler leaves them out,
// and without sparse tensors.
std::unique_ptr<ir::Model> without_dead_nodes(const ir::Model& model) {
    std::unique_ptr<ir::Model> copy = dense_copy(model);
    if (copy->graph != nullptr) {
        elaborate::remove_dead_nodes(*copy, *copy->graph);
    }
    for (ir::Function* function : copy->functions) {
        elaborate::remove_dead_nodes(*copy, *function->body);
    }
    return copy;
}

// The first difference; none where it concerns only what no result needs.
std::string find_difference(const ir::Model& a, const ir::Model& b, bool* loses_shapes) {
    std::string problem = decompile::difference(a, b, loses_shapes);
    bool is_same = problem.empty() ||
                   decompile::difference(*without_dead_nodes(a), *without_dead_nodes(b)).empty();
    return is_same ? std::string() : problem;
}

// Compiles the text and compares.
Result<void> check_again(const ir::Model& model, const decompile::Options& options,
                         const decompile::Script& script, bool* loses_shapes) {
    SDX_ASSIGN(std::unique_ptr<ir::Model> compiled, compile_script_text(model, options, script));
    std::string problem = find_difference(model, *compiled, loses_shapes);
    return problem.empty()
               ? Result<void>()
               : Error{fmt::format("the model cannot be written as a script: {}", problem)};
}

// As a value of `__exact__`, as formatters leave it.
std::string exact_table(const std::string& script, std::string_view words) {
    constexpr size_t kColumns = 76;
    std::string text = fmt::format(
        "\n\n# For `sardonyx build`: names, order, documentation, metadata and stated types, for\n"
        "# which a script has no place.\n{} = {{\n    {}: (\n",
        kExactTable, sardonyx::quoted(script));
    for (; !words.empty(); words.remove_prefix(std::min(kColumns, words.size()))) {
        text += fmt::format("        \"{}\"\n", words.substr(0, kColumns));
    }
    return text + "    ),\n}\n";
}

// With the words of the model as `source` has it.
Result<decompile::Script> with_words(const ir::Model& model, const decompile::Options& options,
                                     const proto::Source& source, decompile::Script script) {
    SDX_ASSIGN(std::unique_ptr<ir::Model> compiled, compile_script_text(model, options, script));
    SDX_ASSIGN(std::string words, models::exact_words(model, source, *compiled));
    script.text += exact_table(script.entry, words);
    proto::Source of_words;
    SDX_ASSIGN(std::unique_ptr<ir::Model> again,
               compile_script_text(model, options, script, &of_words));
    SDX_ASSIGN(std::string before, proto::write_as_read(model, source));
    SDX_ASSIGN(std::string after, proto::write_as_read(*again, of_words));
    return before == after ? Result<decompile::Script>(std::move(script))
                           : Result<decompile::Script>(
                                 Error{"the script does not give the same bytes as the model"});
}

// The script with the sizes that bodies state, where these do not contradict the nodes.
decompile::Script with_annotated_bodies(const ir::Model& model, decompile::Options options,
                                        decompile::Script plain) {
    options.annotates_bodies = true;
    Result<decompile::Script> made = decompile::decompile(model, options);
    bool is_same = made.ok() && check_again(model, options, *made, nullptr).ok();
    return is_same ? std::move(*made) : std::move(plain);
}

}  // namespace

std::string difference(const ir::Model& a, const ir::Model& b) {
    return find_difference(a, b, nullptr);
}

Result<decompile::Script> decompile_model(const ir::Model& model,
                                          const decompile::Options& options) {
    if (model.graph == nullptr) {
        return Error{"a file with only functions has no graph to decompile"};
    }
    if (model.graph->outputs.empty() && !decompile::is_library(model)) {
        return Error{"the graph has no outputs: its script would return nothing"};
    }
    if (models::has_incomplete_calls(model)) {
        std::unique_ptr<ir::Model> complete = ir::copy(model);
        models::inline_incomplete_calls(*complete);
        if (!models::has_incomplete_calls(*complete)) {
            return decompile_model(*complete, options);
        }
    }
    if (ir::has_sparse(model)) {
        std::unique_ptr<ir::Model> dense = dense_copy(model);
        if (!ir::has_sparse(*dense)) {
            return decompile_model(*dense, options);
        }
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
        bool loses_shapes = false;
        Result<void> checked = check_again(model, one, *made, &loses_shapes);
        if (checked.ok()) {
            return loses_shapes ? with_annotated_bodies(model, one, std::move(*made))
                                : std::move(made);
        }
        script = attempt < 2 ? Result<decompile::Script>(checked.error()) : script;
    }
    return script;
}

namespace {

Result<decompile::Script> decompile_outlined(const ir::Model& model,
                                             const decompile::Options& options) {
    std::unique_ptr<ir::Model> outlined = ir::copy(model);
    if (models::outline(*outlined).functions == 0) {
        return decompile_model(model, options);
    }
    std::unique_ptr<ir::Model> inlined = ir::copy(*outlined);
    models::inline_domain(*inlined, models::kOutlineDomain, SIZE_MAX);
    std::string problem = difference(model, *inlined);
    return problem.empty()
               ? decompile_model(*outlined, options)
               : Result<decompile::Script>(Error{fmt::format(
                     "functions for equal blocks would change the model: {}", problem)});
}

Result<decompile::Script> decompile_exact(const ir::Model& model, const decompile::Options& options,
                                          const proto::Source& source) {
    if (decompile::is_library(model)) {
        return Error{"a library of functions has no main script, which `--exact` needs"};
    }
    SDX_ASSIGN(decompile::Script script, decompile_model(model, options));
    Result<decompile::Script> made = with_words(model, options, source, script);
    // Fields in another order, and such that nobody knows, are no part of the table.
    return made.ok() ? std::move(made) : with_words(model, options, {}, std::move(script));
}

Result<decompile::Script> decompile_program(const ir::Model& model,
                                            const decompile::Options& options) {
    if (decompile::is_library(model) || model.graph->outputs.empty()) {
        return Error{"the model has no graph with outputs, which a Builder needs"};
    }
    std::unique_ptr<ir::Model> flat = dense_copy(model);
    models::inline_calls(*flat);
    if (!decompile::Facts(*flat, *flat->graph).callees().empty()) {
        return Error{"the functions of the model have too many nodes to be inlined"};
    }
    while (!flat->functions.empty()) {
        flat->remove_function(flat->functions.back());
    }
    (void)infer::infer_model(*flat);
    return decompile::decompile_cpp(*flat, options);
}

}  // namespace

Result<decompile::Script> decompile_as(ScriptStyle style, const ir::Model& model,
                                       const decompile::Options& options,
                                       const proto::Source& source) {
    switch (style) {
        case ScriptStyle::kOutlined:
            return decompile_outlined(model, options);
        case ScriptStyle::kExact:
            return decompile_exact(model, options, source);
        case ScriptStyle::kProgram:
            return decompile_program(model, options);
        case ScriptStyle::kPlain:
            break;
    }
    return decompile_model(model, options);
}

decompile::Options decompile_options(const std::string& model_path, const std::string& weights) {
    decompile::Options options;
    options.weights = !weights.empty()      ? decompile::Weights::kFile
                      : !model_path.empty() ? decompile::Weights::kReference
                                            : decompile::Weights::kLiterals;
    options.weights_path = !weights.empty() ? weights : model_path;
    options.source = std::filesystem::path(model_path).filename().string();
    return options;
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
            parts.emplace_back(reinterpret_cast<const char*>(tensor.stored_bytes().data()),
                               tensor.stored_bytes().size());
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
