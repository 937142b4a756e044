#include "ide/graph.h"

#include <fmt/format.h>

#include <filesystem>

#include "view/layout.h"
#include "view/scene.h"
#include "view/write.h"

namespace sardonyx::ide {
namespace {

// The first mistake, with its place.
std::string first_error(const driver::Compilation& compilation) {
    for (const diagnostics::Diagnostic& one : compilation.findings().items()) {
        if (one.kind->severity != diagnostics::Severity::kError || one.labels.empty()) {
            continue;
        }
        diagnostics::Span span = one.labels[0].span;
        const diagnostics::Sources& sources = compilation.sources();
        return fmt::format("{}:{}: {}", sources.path(span.file),
                           sources.position(span.file, span.begin).line, one.message);
    }
    return compilation.complaint;
}

}  // namespace

std::string title_of_script(const driver::Compilation& compilation) {
    std::string_view path = compilation.sources().path(compilation.module->tree().file);
    return fmt::format("{}:{}", std::filesystem::path(path).filename().string(),
                       compilation.script->name);
}

Result<std::string> graph_json(const Texts& texts, const std::string& path, const std::string& name,
                               const Settings& settings) {
    driver::Request request;
    request.path = path;
    request.script = name;
    request.form = driver::Form::kAsAnnotated;
    request.options.opset = settings.opset;
    request.options.library_path = settings.library_path;
    request.schemas = settings.schemas;
    for (const auto& [other, text] : texts) {
        if (other == path) {
            request.text = text;
        } else {
            request.at_hand.push_back({other, true, text});
        }
    }
    driver::Compilation compilation = driver::compile(request);
    if (compilation.has_failed()) {
        return Error{first_error(compilation)};
    }
    Result<view::Scene> scene =
        view::make_scene(*compilation.model, &compilation.sources(), title_of_script(compilation));
    SDX_TRY(scene);
    view::lay_out(*scene, view::Subgraphs::kApart);
    return view::to_json(*scene);
}

}  // namespace sardonyx::ide
