// sardonyx dump: what the compiler sees of a file.
#include "syntax/dump.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/script.h"
#include "cli/terminal.h"
#include "elaborate/module.h"
#include "infer/infer.h"
#include "proto/proto.h"
#include "weights/weights.h"

namespace sardonyx::cli {
namespace {

int dump_model(const DumpOptions& options) {
    if (options.stage != DumpStage::kIr || !options.target.name.empty()) {
        print_error("a model has `--stage ir` alone; tokens, trees and names are those of scripts");
        return kUsage;
    }
    Result<std::unique_ptr<ir::Model>> model = proto::read_model_file(options.target.path);
    if (!model.ok()) {
        print_error(model.error().message);
        return kFailure;
    }
    if (options.types) {
        (void)infer::infer_model(**model);
    }
    print(ir::dump(**model));
    return kSuccess;
}

// As a model where the annotations allow it, else as a function.
std::string ir_text(elaborate::Program& program, const elaborate::ScriptFunction& script) {
    std::unique_ptr<ir::Model> model = api::try_model(program, script, {});
    if (model == nullptr) {
        model = elaborate::compile_function(program, script, {});
    }
    return ir::dump(*model);
}

int dump_ir(const DumpOptions& options) {
    elaborate::Program program(weights::read_weights);
    std::string text;
    if (!options.target.name.empty()) {
        LoadedScript loaded = load_script(program, options.target);
        if (loaded.script == nullptr) {
            return loaded.status;
        }
        text = ir_text(program, *loaded.script);
    } else if (elaborate::FileModule* module = elaborate::load_file(program, options.target.path)) {
        for (const auto& script : elaborate::scripts(*module)) {
            text += fmt::format("{}# {}\n{}", text.empty() ? "" : "\n", script->name,
                                ir_text(program, *script));
        }
    }
    print(text);
    print_findings(program.sources, program.diagnostics);
    return program.diagnostics.has_errors() ? kFailure : kSuccess;
}

int dump_syntax(const DumpOptions& options) {
    elaborate::Program program(weights::read_weights);
    elaborate::FileModule* module = elaborate::load_file(program, options.target.path);
    if (module != nullptr) {
        print(options.stage == DumpStage::kTokens
                  ? syntax::dump_tokens(program.sources, module->tree().file)
                  : syntax::dump_tree(module->tree()));
    }
    print_findings(program.sources, program.diagnostics);
    return program.diagnostics.has_errors() ? kFailure : kSuccess;
}

}  // namespace

int run_dump(const DumpOptions& options) {
    if (!options.target.is_script()) {
        return dump_model(options);
    }
    return options.stage == DumpStage::kIr ? dump_ir(options) : dump_syntax(options);
}

}  // namespace sardonyx::cli
