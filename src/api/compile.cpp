#include <sardonyx/compile.h>

#include "api/convert.h"
#include "api/entry.h"
#include "api/fail.h"
#include "api/state.h"
#include "diagnostics/render.h"
#include "weights/weights.h"

namespace sardonyx {
inline namespace v1 {

namespace {

[[noreturn]] void fail_with(const elaborate::Program& program) {
    api::fail_compilation(diagnostics::render_terminal(program.sources, program.diagnostics, {}),
                          api::from_engine(program.sources, program.diagnostics));
}

elaborate::Options engine_options(const CompileOptions& options) {
    api::OptionTexts texts;
    texts.input_types = options.input_types;
    texts.attributes = options.attributes;
    texts.opset = options.opset;
    texts.ir_version = options.ir_version;
    Result<elaborate::Options> read = api::read_options(texts);
    if (!read.ok()) {
        api::fail(read.error().message);
    }
    return std::move(*read);
}

Model compile(elaborate::Program& program, elaborate::FileModule* module,
              const CompileOptions& options) {
    elaborate::Options read = engine_options(options);
    if (module == nullptr) {
        fail_with(program);
    }
    auto script = api::choose_script(program, *module, options.function);
    if (!script.ok() && program.diagnostics.has_errors()) {
        fail_with(program);  // the text could not be parsed, and has lost its scripts
    }
    if (!script.ok()) {
        api::fail(script.error().message);
    }
    auto state = std::make_unique<Model::State>();
    state->model = options.as_function ? elaborate::compile_function(program, **script, read)
                                       : elaborate::compile_model(program, **script, read);
    if (program.diagnostics.has_errors()) {
        fail_with(program);
    }
    state->diagnostics = api::from_engine(program.sources, program.diagnostics);
    return Model(std::move(state));
}

}  // namespace

Model compile_file(const std::string& path, const CompileOptions& options) {
    elaborate::Program program(weights::read_weights);
    return compile(program, elaborate::load_file(program, path), options);
}

Model compile_text(std::string text, const std::string& path, const CompileOptions& options) {
    elaborate::Program program(weights::read_weights);
    return compile(program, elaborate::load_text(program, path, std::move(text)), options);
}

}  // namespace v1
}  // namespace sardonyx
