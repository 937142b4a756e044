// sardonyx dump: what the compiler sees of a file.
#include "syntax/dump.h"

#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/model_file.h"
#include "cli/plan_text.h"
#include "cli/terminal.h"
#include "infer/infer.h"

namespace sardonyx::cli {
namespace {

// The text of a model as the IR or, prepared for a run, as a plan.
Result<std::string> text_of(const ir::Model& model, DumpStage stage) {
    return stage == DumpStage::kPlan ? plan_text(model) : Result<std::string>(ir::dump(model));
}

// Prints it, or its error; whether there is none.
bool show_text(const Result<std::string>& text) {
    if (!text.ok()) {
        print_error(text.error().message);
        return false;
    }
    print(*text);
    return true;
}

int dump_model(const DumpOptions& options) {
    if (options.stage == DumpStage::kTokens || options.stage == DumpStage::kTree ||
        !options.target.name.empty()) {
        print_error(
            "a model has the stages ir and plan; tokens, trees and names are those of scripts");
        return kUsage;
    }
    Result<ModelFile> file = load_model(options.target.path);
    if (!file.ok()) {
        print_error(file.error().message);
        return kFailure;
    }
    std::optional<MappedReading> reading(file->stamps);
    if (options.types) {
        (void)infer::infer_model(*file->model);
    }
    Result<std::string> text = text_of(*file->model, options.stage);
    reading.reset();
    if (Result<void> unchanged = check_unchanged(file->stamps); !unchanged.ok()) {
        print_error(unchanged.error().message);
        return kFailure;
    }
    return show_text(text) ? kSuccess : kFailure;
}

int finish_dump(const driver::Compilation& compiled) {
    print_findings(compiled.sources(), compiled.findings());
    return compiled.findings().has_errors() ? kFailure : kSuccess;
}

int dump_script(const DumpOptions& options) {
    std::optional<driver::Request> request = request_of(options.target, {}, {});
    if (!request) {
        return kUsage;
    }
    bool is_plan = options.stage == DumpStage::kPlan;
    request->form = is_plan ? driver::Form::kModel : driver::Form::kAsAnnotated;
    driver::Compilation compiled = driver::compile(*request);
    if (compiled.model == nullptr) {
        print_findings(compiled.sources(), compiled.findings());
        return failure_of(compiled);
    }
    return show_text(text_of(*compiled.model, options.stage)) ? finish_dump(compiled) : kFailure;
}

int dump_file(const DumpOptions& options) {
    std::optional<driver::Request> request = request_of(options.target, {}, {});
    if (!request) {
        return kUsage;
    }
    driver::Compilation loaded = driver::load(*request);
    std::string text;
    if (loaded.module != nullptr && options.stage != DumpStage::kIr) {
        text = options.stage == DumpStage::kTokens
                   ? syntax::dump_tokens(loaded.sources(), loaded.module->tree().file)
                   : syntax::dump_tree(loaded.module->tree());
    } else if (loaded.module != nullptr) {
        for (const driver::CompiledScript& one :
             driver::compile_all(loaded, driver::Form::kAsAnnotated)) {
            text += fmt::format("{}# {}\n{}", text.empty() ? "" : "\n", one.script->name,
                                ir::dump(*one.model));
        }
    }
    print(text);
    return finish_dump(loaded);
}

}  // namespace

int run_dump(const DumpOptions& options) {
    if (!options.target.is_script()) {
        return dump_model(options);
    }
    // A plan is of one script, which the driver chooses where no name is given.
    bool is_one = options.stage == DumpStage::kPlan ||
                  (options.stage == DumpStage::kIr && !options.target.name.empty());
    return is_one ? dump_script(options) : dump_file(options);
}

}  // namespace sardonyx::cli
