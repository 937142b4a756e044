#include <sardonyx/compile.h>

#include "api/convert.h"
#include "api/fail.h"
#include "api/state.h"
#include "diagnostics/render.h"
#include "driver/driver.h"
#include "driver/options.h"

namespace sardonyx {
inline namespace v1 {

namespace {

driver::Request request_of(const std::string& path, const CompileOptions& options) {
    Result<elaborate::Options> read =
        driver::read_options({options.input_types, options.attributes, options.opset,
                              options.ir_version, options.library_path});
    if (!read.ok()) {
        api::fail(read.error().message);
    }
    driver::Request request;
    request.path = path;
    request.script = options.function;
    request.form = options.as_function ? driver::Form::kFunction : driver::Form::kModel;
    request.options = std::move(*read);
    request.schemas = options.schemas;
    for (const auto& [name, array] : options.globals) {
        Tensor tensor = api::to_engine(name, Value(array)).tensor();
        request.globals.emplace_back(
            name, elaborate::Object::make(elaborate::ObjectKind::kConstant, std::move(tensor)));
    }
    if (!options.line_metadata.empty()) {
        auto lines = std::make_shared<driver::LineMetadata>();
        for (const auto& [line, properties] : options.line_metadata) {
            if (Result<void> added = driver::add_line(*lines, line, properties); !added.ok()) {
                api::fail(added.error().message);
            }
        }
        request.finish.metadata = std::move(lines);
    }
    return request;
}

std::unique_ptr<Model::State> compile_or_throw(const driver::Request& request) {
    driver::Compilation compiled = driver::compile(request);
    if (!compiled.complaint.empty()) {
        api::fail(compiled.complaint);
    }
    std::vector<Diagnostic> findings = api::from_engine(compiled.sources(), compiled.findings());
    if (compiled.has_failed()) {
        api::fail_compilation(
            diagnostics::render_terminal(compiled.sources(), compiled.findings(), {}),
            std::move(findings));
    }
    auto state = std::make_unique<Model::State>();
    state->model = std::move(compiled.model);
    state->source = std::move(compiled.source);
    state->diagnostics = std::move(findings);
    return state;
}

}  // namespace

Model compile_file(const std::string& path, const CompileOptions& options) {
    return Model(compile_or_throw(request_of(path, options)));
}

Model compile_text(std::string text, const std::string& path, const CompileOptions& options) {
    driver::Request request = request_of(path, options);
    request.text = std::move(text);
    return Model(compile_or_throw(request));
}

}  // namespace v1
}  // namespace sardonyx
