#include "elaborate/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/nearest.h"
#include "elaborate/emit.h"
#include "elaborate/eval.h"
#include "elaborate/functions.h"
#include "elaborate/library.h"
#include "elaborate/script_keywords.h"
#include "elaborate/statics.h"
#include "syntax/diagnostics.h"
#include "syntax/parse.h"

namespace sardonyx::elaborate {

using syntax::Range;
using syntax::Stmt;
using syntax::StmtKind;

Program::Program(WeightReader read_weights)
    : own_sources_(std::make_unique<diagnostics::Sources>()),
      sources(*own_sources_),
      read_weights(read_weights) {}
Program::Program(WeightReader read_weights, diagnostics::Sources& shared)
    : sources(shared), read_weights(read_weights) {}
Program::~Program() {
    for (const std::shared_ptr<Scope>& scope : closed_over) {
        scope->clear();
    }
}

FileModule::FileModule(Program& program, std::string path, diagnostics::FileId file)
    : program_(program),
      path_(std::move(path)),
      tree_(syntax::parse(program.sources, file, program.diagnostics)) {
    top_.name = "<module>";
    top_.tree = &tree_;
    top_.environment = this;
    scope_ = std::make_shared<Scope>(&top_, nullptr);
    bind_block(tree_.body);
}

FileModule::~FileModule() = default;

// --- What is bound where
// ---------------------------------------------------------------------------

namespace {

bool is_main_guard(const syntax::Expr* condition) {
    const auto* compare = syntax::maybe_as<syntax::CompareExpr>(condition);
    return compare != nullptr && compare->rights.size() == 1 &&
           syntax::maybe_as<syntax::StringExpr>(compare->rights[0]) != nullptr &&
           syntax::as<syntax::StringExpr>(compare->rights[0])->value == "__main__";
}

// The name that an import binds: `a` for `import a.b`.
std::string_view bound_name(const syntax::Tree& tree, const syntax::Alias& alias) {
    if (alias.as_name.valid()) {
        return tree.names.text(alias.as_name);
    }
    std::string_view dotted = tree.names.text(alias.name);
    return dotted.substr(0, dotted.find('.'));
}

}  // namespace

void FileModule::bind_block(syntax::Stmts statements) {
    for (const Stmt* statement : statements) {
        bind_statement(statement);
    }
}

void FileModule::bind_target(const Stmt* statement, const syntax::Expr* whole,
                             const syntax::Expr* target) {
    if (const auto* name = syntax::maybe_as<syntax::NameExpr>(target)) {
        bindings_[std::string(tree_.names.text(name->name))] = {
            statement, nullptr, whole, {}, false};
    } else if (target->kind == syntax::ExprKind::kTuple ||
               target->kind == syntax::ExprKind::kList) {
        for (const syntax::Expr* item : static_cast<const syntax::SequenceExpr*>(target)->items) {
            bind_target(statement, whole, item);
        }
    }
}

void FileModule::bind_statement(const Stmt* statement) {
    switch (statement->kind) {
        case StmtKind::kFunctionDef: {
            const auto* definition = syntax::as<syntax::FunctionDefStmt>(statement);
            bindings_[std::string(tree_.names.text(definition->name))] = {
                statement, nullptr, nullptr, {}, false};
            definitions_.push_back(definition);
            break;
        }
        case StmtKind::kImport:
            for (const syntax::Alias& alias : syntax::as<syntax::ImportStmt>(statement)->names) {
                bindings_[std::string(bound_name(tree_, alias))] = {
                    statement, &alias, nullptr, {}, false};
            }
            break;
        case StmtKind::kImportFrom: {
            const auto* import = syntax::as<syntax::ImportFromStmt>(statement);
            for (const syntax::Alias& alias : import->names) {
                if (tree_.names.text(alias.name) == "*") {
                    stars_.push_back(import);
                } else {
                    bindings_[std::string(bound_name(tree_, alias))] = {
                        statement, &alias, nullptr, {}, false};
                }
            }
            break;
        }
        case StmtKind::kAssign:
            for (const syntax::Expr* target : syntax::as<syntax::AssignStmt>(statement)->targets) {
                bind_target(statement, target, target);
            }
            break;
        case StmtKind::kAnnAssign: {
            const auto* assign = syntax::as<syntax::AnnAssignStmt>(statement);
            if (assign->value != nullptr) {
                bind_target(statement, assign->target, assign->target);
            }
            break;
        }
        case StmtKind::kIf: {
            const auto* branch = syntax::as<syntax::IfStmt>(statement);
            if (!is_main_guard(branch->condition)) {
                bind_block(branch->orelse);
                bind_block(branch->body);
            }
            break;
        }
        case StmtKind::kOpaque: {
            const auto* opaque = syntax::as<syntax::OpaqueStmt>(statement);
            if (opaque->keyword == "try" || opaque->keyword == "with") {
                bind_block(opaque->body);
            }
            break;
        }
        default:
            break;
    }
}

// --- Evaluation
// ------------------------------------------------------------------------------------

template <typename Body>
Object FileModule::with_context(Body&& body) {
    ir::Model scratch;
    Context c(program_, program_.file_options, scratch);
    scratch.graph = scratch.make_graph(nullptr);
    Unit unit;
    unit.graph = scratch.graph;
    c.unit = &unit;
    c.graph = unit.graph;
    c.at.scope = scope_;
    return body(c);
}

std::optional<Object> FileModule::lookup(std::string_view name) {
    auto found = bindings_.find(name);
    if (found == bindings_.end()) {
        // Files may import everything of each other: each is asked once.
        bool is_new = starred_.insert(std::string(name)).second;
        for (size_t i = 0; is_new && i < stars_.size(); ++i) {
            const syntax::ImportFromStmt* star = stars_[i];
            Object module = import_module(tree_.names.text(star->module), star->level, star->range);
            if (module.is(ObjectKind::kModule)) {
                const ModuleObject& opened = module.get<ModuleObject>();
                std::optional<Object> value = opened.environment != nullptr
                                                  ? opened.environment->lookup(name)
                                                  : library_attribute(opened.name, name);
                if (value) {
                    starred_.erase(starred_.find(name));
                    return value;
                }
            }
        }
        if (is_new) {
            starred_.erase(starred_.find(name));
        }
        return library_name(name);
    }
    Binding& binding = found->second;
    if (!binding.value) {
        if (binding.evaluating) {
            return std::nullopt;  // x = x + 1, or files that import each other's half-made names
        }
        binding.evaluating = true;
        size_t said = program_.diagnostics.items().size();
        binding.value = evaluate(name, binding);
        binding.evaluating = false;
        const auto& items = program_.diagnostics.items();
        binding.place = said;
        binding.findings.assign(items.begin() + static_cast<std::ptrdiff_t>(said), items.end());
    } else if (!binding.findings.empty()) {
        report_again(binding);
    }
    return binding.value;
}

void FileModule::report_again(Binding& binding) {
    const auto& items = program_.diagnostics.items();
    const diagnostics::Diagnostic& first = binding.findings[0];
    if (binding.place < items.size() && items[binding.place].kind == first.kind &&
        items[binding.place].labels[0].span == first.labels[0].span) {
        return;  // they stand
    }
    binding.place = items.size();
    for (const diagnostics::Diagnostic& finding : binding.findings) {
        program_.diagnostics.add(finding);
    }
}

std::optional<Object> FileModule::known(std::string_view name) {
    auto is_native = [&](const syntax::ImportFromStmt* from) {
        return from->level == 0 && from->module.valid() &&
               is_library_module(tree_.names.text(from->module));
    };
    auto found = bindings_.find(name);
    if (found == bindings_.end()) {
        return std::all_of(stars_.begin(), stars_.end(), is_native) ? lookup(name) : std::nullopt;
    }
    const Binding& binding = found->second;
    bool is_native_import = binding.statement->kind == StmtKind::kImportFrom &&
                            is_native(syntax::as<syntax::ImportFromStmt>(binding.statement));
    return is_native_import ? lookup(name) : binding.value;
}

std::vector<std::string> FileModule::names() {
    std::vector<std::string> all;
    for (const auto& [name, binding] : bindings_) {
        all.push_back(name);
    }
    for (std::string_view name : library_names()) {
        all.emplace_back(name);
    }
    return all;
}

Object FileModule::evaluate(std::string_view name, const Binding& binding) {
    switch (binding.statement->kind) {
        case StmtKind::kFunctionDef:
            return evaluate_function(syntax::as<syntax::FunctionDefStmt>(binding.statement));
        case StmtKind::kImport:
            return evaluate_import(binding);
        case StmtKind::kImportFrom:
            return evaluate_import_from(syntax::as<syntax::ImportFromStmt>(binding.statement),
                                        *binding.alias);
        default:
            return evaluate_assignment(name, binding);
    }
}

namespace {

// The part of an unpacked value that belongs to a name; nothing when the structures differ.
std::optional<Object> find_part(Context& c, const syntax::Expr* target, const Object& value,
                                std::string_view name) {
    if (const auto* one = syntax::maybe_as<syntax::NameExpr>(target)) {
        return c.text(one->name) == name ? std::optional<Object>(value) : std::nullopt;
    }
    if (target->kind != syntax::ExprKind::kTuple && target->kind != syntax::ExprKind::kList) {
        return std::nullopt;
    }
    syntax::Exprs targets = static_cast<const syntax::SequenceExpr*>(target)->items;
    std::optional<std::vector<Object>> items = static_items(c, value);
    if (!items || items->size() != targets.size()) {
        return std::nullopt;
    }
    for (size_t i = 0; i < targets.size(); ++i) {
        if (std::optional<Object> part = find_part(c, targets[i], (*items)[i], name)) {
            return part;
        }
    }
    return std::nullopt;
}

}  // namespace

Object FileModule::evaluate_assignment(std::string_view name, const Binding& binding) {
    const syntax::Expr* expr = binding.statement->kind == StmtKind::kAssign
                                   ? syntax::as<syntax::AssignStmt>(binding.statement)->value
                                   : syntax::as<syntax::AnnAssignStmt>(binding.statement)->value;
    return with_context([&](Context& c) {
        Object value = eval(c, expr);
        if (value.is_error()) {
            return value;
        }
        // f = script()(g) makes a function of another name; what it is does not change.
        if (!value.is_static()) {
            c.report(kStaticRequired, expr->range,
                     fmt::format("`{}` is computed when the file runs, not at compile time", name))
                .with_help("compute it inside the script, or write its value down");
            return Object::error();
        }
        return find_part(c, binding.target, value, name).value_or(Object::error());
    });
}

Object FileModule::evaluate_function(const syntax::FunctionDefStmt* definition) {
    return with_context([&](Context& c) {
        std::optional<DecoratorObject> script;
        for (const syntax::Expr* decorator : definition->decorators) {
            size_t said = program_.diagnostics.items().size();
            Object object = eval(c, decorator);
            if (is_builtin(object, "sardonyx.script")) {
                script = DecoratorObject{};
            } else if (object.is(ObjectKind::kDecorator) &&
                       !object.get<DecoratorObject>().is_graph) {
                script = object.get<DecoratorObject>();
            } else if (object.is_error() && !script) {
                // A decorator of another library: the function is not ours.
                program_.diagnostics.truncate(said);
            }
        }
        if (!script) {
            Closure closure{definition, nullptr, scope_, {}};
            for (const syntax::Parameter& parameter : definition->parameters->items) {
                closure.defaults.push_back(parameter.default_value != nullptr
                                               ? eval(c, parameter.default_value)
                                               : Object::error());
            }
            return Object::make(ObjectKind::kClosure, std::move(closure));
        }
        ScriptFunction function;
        function.name = tree_.names.text(definition->name);
        function.tree = &tree_;
        function.definition = definition;
        function.environment = this;
        for (const auto& [name, value] : script->keywords) {
            (void)set_script_keyword(function, name, value);  // reported where it is written
        }
        return Object::make(ObjectKind::kScript, std::move(function));
    });
}

Object FileModule::import_module(std::string_view dotted, uint32_t level, Range range) {
    if (level == 0 && is_library_module(dotted)) {
        return Object::make(ObjectKind::kModule, ModuleObject{std::string(dotted), nullptr});
    }
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::path folder = fs::path(path_).parent_path();
    for (uint32_t i = 1; i < level; ++i) {
        folder = folder / "..";
    }
    std::string relative(dotted);
    std::replace(relative.begin(), relative.end(), '.', '/');
    for (const fs::path& candidate :
         {folder / (relative + ".py"), folder / relative / "__init__.py"}) {
        if (fs::is_regular_file(candidate, failed)) {
            FileModule* module = load_file(program_, candidate.lexically_normal().string());
            return module != nullptr ? Object::make(ObjectKind::kModule,
                                                    ModuleObject{std::string(dotted), module})
                                     : Object::error();
        }
    }
    std::string_view near = level == 0 ? nearest(dotted, library_modules()) : std::string_view();
    diagnostics::Diagnostic& reported = program_.diagnostics.report(
        kUnknownModule, tree_.span(range),
        fmt::format("there is no module `{}{}` here", std::string(level, '.'), dotted));
    if (near.empty()) {
        reported.with_help(
            "the compiler knows files beside this one, and math, numpy, typing, onnx and "
            "sardonyx");
    } else {
        reported.with_help(fmt::format("did you mean `{}`?", near));
    }
    return Object::error();
}

Object FileModule::evaluate_import(const Binding& binding) {
    std::string_view dotted = tree_.names.text(binding.alias->name);
    // `import a.b` binds a, `import a.b as c` binds a.b.
    if (!binding.alias->as_name.valid()) {
        dotted = dotted.substr(0, dotted.find('.'));
    }
    return import_module(dotted, 0, binding.alias->range);
}

Object FileModule::evaluate_import_from(const syntax::ImportFromStmt* statement,
                                        const syntax::Alias& alias) {
    std::string_view name = tree_.names.text(alias.name);
    if (!statement->module.valid()) {
        return import_module(name, statement->level, alias.range);
    }
    std::string_view dotted = tree_.names.text(statement->module);
    Object module = import_module(dotted, statement->level, statement->range);
    if (module.is_error()) {
        return module;
    }
    const ModuleObject& opened = module.get<ModuleObject>();
    std::optional<Object> value = opened.environment != nullptr
                                      ? opened.environment->lookup(name)
                                      : library_attribute(opened.name, name);
    if (value) {
        return *value;
    }
    return with_context(
        [&](Context& c) { return member(c, module, name, alias.range, alias.range); });
}

std::vector<std::shared_ptr<ScriptFunction>> FileModule::scripts() {
    std::vector<std::shared_ptr<ScriptFunction>> all;
    for (const syntax::FunctionDefStmt* definition : definitions_) {
        if (definition->decorators.empty()) {
            continue;
        }
        std::optional<Object> object = lookup(tree_.names.text(definition->name));
        if (object && object->is(ObjectKind::kScript) &&
            object->get<ScriptFunction>().definition == definition) {
            all.push_back(std::static_pointer_cast<ScriptFunction>(object->pointer()));
        }
    }
    return all;
}

// --- Loading
// -----------------------------------------------------------------------------------------

FileModule* load_text(Program& program, const std::string& path, std::string text) {
    diagnostics::FileId file = program.sources.add(path, std::move(text));
    program.modules.push_back(std::make_unique<FileModule>(program, path, file));
    return program.modules.back().get();
}

FileModule* load_file(Program& program, const std::string& given) {
    std::string path = std::filesystem::path(given).lexically_normal().string();
    for (const std::unique_ptr<FileModule>& module : program.modules) {
        if (module->path() == path) {
            return module.get();
        }
    }
    size_t limit = syntax::Limits{}.bytes;
    Result<std::string> text = read_file(path, limit);
    if (!text.ok()) {
        std::error_code failed;
        uintmax_t size = std::filesystem::file_size(path, failed);
        const diagnostics::Kind& kind =
            !failed && size > limit ? syntax::kSourceTooLarge : kUnreadableFile;
        program.diagnostics.report(kind, {}, text.error().message)
            .with_help(&kind == &kUnreadableFile ? "check the path, and that you may read the file"
                                                 : "split it into several files");
        return nullptr;
    }
    return load_text(program, path, std::move(*text));
}

std::vector<std::shared_ptr<ScriptFunction>> scripts(FileModule& module) {
    return module.scripts();
}

}  // namespace sardonyx::elaborate
