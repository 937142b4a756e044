#include "driver/driver.h"

#include <fmt/format.h>

#include "diagnostics/ignore.h"
#include "driver/decompile.h"
#include "driver/library.h"
#include "driver/scripts.h"
#include "elaborate/elaborate.h"
#include "lint/lint.h"
#include "models/exact.h"
#include "rewrite/fold_constants.h"
#include "schemas/schemas.h"
#include "weights/weights.h"

namespace sardonyx::driver {

using elaborate::Options;
using elaborate::Program;
using elaborate::ScriptFunction;

namespace {

std::unique_ptr<ir::Model> compile_form(Program& program, const ScriptFunction& script, Form form,
                                        const Options& options) {
    bool is_model = form == Form::kModel ||
                    (form == Form::kAsAnnotated && elaborate::is_model(program, script, options));
    if (!is_model) {
        return elaborate::compile_function(program, script, options);
    }
    std::unique_ptr<ir::Model> model = elaborate::compile_model(program, script, options);
    if (!program.diagnostics.has_errors()) {
        rewrite::fold_constants(*model, script.fold_bytes);
    }
    return model;
}

// The words of the model that the script was made of, which `decompile --exact` has put into the
// file: `__exact__` has them for scripts by their names.
void take_exact_words(Compilation& c) {
    std::optional<elaborate::Object> table = c.module->value(kExactTable);
    if (!table || !table->is(elaborate::ObjectKind::kDict)) {
        return;
    }
    for (const auto& [name, words] : table->get<elaborate::DictObject>().items) {
        bool is_text =
            name.is(elaborate::ObjectKind::kString) && words.is(elaborate::ObjectKind::kString);
        if (!is_text || name.text() != c.script->name) {
            continue;
        }
        if (Result<void> done =
                models::apply_exact_words(c.model, words.text(), c.source, difference);
            !done.ok()) {
            c.complaint =
                fmt::format("`{}` of `{}` is not what `decompile --exact` has written: {}",
                            kExactTable, c.script->name, done.error().message);
            c.model = nullptr;
        }
        return;
    }
}

void compile_chosen(Compilation& c, Form form, const Options& options) {
    Program& program = *c.program;
    c.model = compile_form(program, *c.script, form, options);
    if (!program.diagnostics.has_errors()) {
        lint::lint_file(program, *c.module);
    }
    diagnostics::silence(program.sources, program.diagnostics);
    if (form != Form::kModel || c.model == nullptr || program.diagnostics.has_errors()) {
        return;
    }
    take_exact_words(c);
    if (c.model == nullptr) {
        return;
    }
    Result<void> done = finish_model(*c.model, c.finish, program.sources, c.script->tree->file);
    if (!done.ok()) {
        c.complaint = done.error().message;
        c.model = nullptr;
    }
}

Form form_of(const ir::Model& model) {
    return model.graph != nullptr ? Form::kModel : Form::kFunction;
}

}  // namespace

std::vector<std::string> Compilation::files() const {
    std::vector<std::string> all;
    for (uint32_t i = 0; i < sources().size(); ++i) {
        all.emplace_back(sources().path({i}));
    }
    return all;
}

// The file of a request, loaded; `module` is null where it cannot be read.
Compilation load_request(const Request& request, Options& options) {
    Compilation c;
    c.program = std::make_unique<Program>(request.read_weights ? request.read_weights
                                                               : weights::read_weights);
    c.schemas = std::make_unique<ops::SchemaSet>();
    Program& program = *c.program;
    program.wants_types = request.wants_types;
    program.module_files = request.module_files;
    for (const std::string& path : request.schemas) {
        schemas::load_schemas(path, program.sources, program.diagnostics, *c.schemas);
    }
    if (program.diagnostics.has_errors()) {
        return c;
    }
    options.schemas = c.schemas.get();
    program.file_options.schemas = options.schemas;
    program.file_options.limits = options.limits;
    program.file_options.library_path = options.library_path;
    for (const CheckedFile& file : request.at_hand) {
        (void)elaborate::load_text(program, file.path, file.text.value_or(std::string()));
    }
    c.module = request.text ? elaborate::load_text(program, request.path, *request.text)
                            : elaborate::load_file(program, request.path);
    for (const auto& [name, value] : request.globals) {
        if (c.module != nullptr) {
            c.module->define(name, value);
        }
    }
    return c;
}

Compilation compile(const Request& request) {
    Options options = request.options;
    Compilation c = load_request(request, options);
    if (c.module == nullptr) {
        return c;
    }
    Program& program = *c.program;
    c.module->report_mistakes();
    Result<std::shared_ptr<ScriptFunction>> script =
        choose_script(program, *c.module, request.script);
    if (!script.ok()) {
        // A file that could not be parsed may have lost its scripts: the findings say more.
        c.complaint = program.diagnostics.has_errors() ? std::string() : script.error().message;
        return c;
    }
    c.script = *script;
    c.finish = request.finish;
    const auto& said = program.diagnostics.items();
    c.of_file.assign(said.begin(), said.end());
    compile_chosen(c, request.form, options);
    return c;
}

Compilation compile_library(const Request& request) {
    Options options = request.options;
    Compilation c = load_request(request, options);
    if (c.module == nullptr) {
        return c;
    }
    std::vector<CompiledScript> scripts = compile_all(c, Form::kFunction);
    if (scripts.empty() && !c.findings().has_errors()) {
        c.complaint = "the file has no scripts";
    }
    if (scripts.empty() || c.findings().has_errors()) {
        return c;
    }
    Result<std::unique_ptr<ir::Model>> library = make_library(scripts);
    if (library.ok()) {
        c.model = std::move(*library);
    } else {
        c.complaint = library.error().message;
    }
    return c;
}

std::unique_ptr<ir::Model> compile_again(Compilation& c, Options options) {
    c.program->diagnostics.clear();
    for (const diagnostics::Diagnostic& finding : c.of_file) {
        c.program->diagnostics.add(finding);
    }
    c.program->types.clear();
    options.schemas = c.schemas.get();
    std::unique_ptr<ir::Model> before = std::move(c.model);
    compile_chosen(c, form_of(*before), options);
    return before;
}

Result<std::unique_ptr<ir::Model>> compile_script(Program& program, const ScriptFunction& script,
                                                  const ScriptRequest& request) {
    program.file_options.schemas = request.options.schemas;
    program.file_options.limits = request.options.limits;
    std::unique_ptr<ir::Model> model = compile_form(program, script, request.form, request.options);
    if (!program.diagnostics.has_errors()) {
        lint::lint_script(program, script);
    }
    diagnostics::silence(program.sources, program.diagnostics);
    if (program.diagnostics.has_errors()) {
        return std::unique_ptr<ir::Model>();
    }
    if (request.form == Form::kModel) {
        SDX_TRY(finish_model(*model, request.finish, program.sources, script.tree->file));
    }
    return model;
}

Compilation load(const Request& request) {
    Options options = request.options;
    return load_request(request, options);
}

std::vector<CompiledScript> compile_all(Compilation& c, Form form) {
    std::vector<CompiledScript> all;
    c.module->report_mistakes();
    for (auto& script : named_scripts(*c.module)) {
        if (elaborate::find_script(*c.module, script->name) == nullptr) {
            continue;  // reported
        }
        all.push_back({script, compile_form(*c.program, *script, form, c.program->file_options)});
    }
    if (!c.program->diagnostics.has_errors()) {
        lint::lint_file(*c.program, *c.module);
    }
    diagnostics::silence(c.program->sources, c.program->diagnostics);
    return all;
}

}  // namespace sardonyx::driver
