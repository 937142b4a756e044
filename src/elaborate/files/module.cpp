#include "elaborate/files/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "base/file.h"
#include "base/nearest.h"
#include "elaborate/elaborate.h"
#include "elaborate/library/library.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/unknowns.h"
#include "elaborate/scopes/lookup.h"
#include "syntax/diagnostics.h"
#include "syntax/parse.h"
#include "torch/library.h"

namespace sardonyx::elaborate {

using syntax::Range;

Program::Program(WeightReader read_weights)
    : own_sources_(std::make_unique<diagnostics::Sources>()),
      sources(*own_sources_),
      read_weights(read_weights),
      unknowns(std::make_unique<Unknowns>()) {}
Program::Program(WeightReader read_weights, diagnostics::Sources& shared)
    : sources(shared), read_weights(read_weights), unknowns(std::make_unique<Unknowns>()) {}
Program::~Program() {
    for (const std::shared_ptr<Scope>& scope : closed_over) {
        scope->clear();
    }
}

FileModule::FileModule(Program& program, std::string path, diagnostics::FileId file)
    : program_(program),
      path_(std::move(path)),
      start_folder_(std::filesystem::path(path_).parent_path().string()),
      is_of_library_(!torch::library_statements(path_).empty()) {
    if (is_of_library_) {
        tree_.file = file;
        defer_functions();
    } else {
        tree_ = syntax::parse(program.sources, file, program.diagnostics);
    }
    top_.name = "<module>";
    top_.tree = &tree_;
    top_.environment = this;
    root_ = std::make_shared<Scope>(&top_, nullptr);
    globals_ = std::make_shared<Scope>(&top_, nullptr);
    globals_->closed_in_place = root_;
}

FileModule::~FileModule() = default;

// --- Names ---------------------------------------------------------------------------------------

// Scopes have entries for loops too, under symbols that no text has.
Symbol FileModule::find(std::string_view name) {
    auto found = symbols_.find(name);
    if (found != symbols_.end()) {
        return found->second;
    }
    if (indexed_ != globals_->values().size()) {
        for (const auto& [symbol, value] : globals_->values()) {
            if (symbol.index < tree_.names.size()) {
                symbols_.emplace(tree_.names.text(symbol), symbol);
            }
        }
        indexed_ = globals_->values().size();
        found = symbols_.find(name);
    }
    return found != symbols_.end() ? found->second : Symbol();
}

std::optional<Object> FileModule::value(Symbol name) {
    run_deferred(name);
    const Object* found = name.valid() ? globals_->find(name) : nullptr;
    return found != nullptr ? std::optional<Object>(*found) : std::nullopt;
}

std::optional<Object> FileModule::value(std::string_view name) {
    return value(find(name));
}

std::optional<Object> FileModule::lookup(std::string_view name) {
    run();
    return lookup_symbol(find(name), name);
}

std::optional<Object> FileModule::lookup_symbol(Symbol name, std::string_view text) {
    run();
    run_deferred(name);
    const Object* found = name.valid() ? globals_->find(name) : nullptr;
    bool has_value = found != nullptr && (!found->is(ObjectKind::kUnbound) || is_unknown(*found));
    if (has_value && found->is(ObjectKind::kScript) && !script_findings_.empty()) {
        report_script(found->get<ScriptFunction>());
    }
    if (has_value) {
        return *found;
    }
    auto pending = name.valid() ? pending_.find(name.index) : pending_.end();
    if (pending != pending_.end() && asked_.insert(std::string(text)).second) {
        bool is_pending = false;
        std::optional<Object> object =
            imported(pending->second.statement, *pending->second.alias, is_pending);
        asked_.erase(asked_.find(text));
        if (is_of_library_ && object) {
            bind(name, *object);
        }
        return object;
    }
    if (std::optional<Object> object = starred(text)) {
        return object;
    }
    if (torch::is_library_package(path_)) {
        return of_package(text);  // its operators stand in place of files of that name
    }
    if (std::optional<Object> object = imported_part(text)) {
        return object;
    }
    if (torch::is_torch_package(path_)) {
        return library_attribute(kTorchPackage, text);
    }
    return text == "__name__" ? Object::string(std::filesystem::path(path_).stem().string())
                              : library_name(text);
}

// What the package's `__getattr__` gives in Python.
std::optional<Object> FileModule::of_package(std::string_view name) {
    std::optional<torch::LibraryFunction> found = torch::library_function(name);
    FileModule* module = found ? load_file(program_, found->path) : nullptr;
    return module != nullptr ? module->lookup(found->name) : std::nullopt;
}

std::optional<Object> FileModule::starred(std::string_view name) {
    for (size_t i = stars_.size(); i-- > 0;) {
        const Object& from = stars_[i].module;
        if (!from.is(ObjectKind::kModule)) {
            return from;
        }
        if (auto value = library_attribute(from.get<ModuleObject>().name, name)) {
            return value;
        }
    }
    return std::nullopt;
}

std::optional<Object> FileModule::known(std::string_view name) {
    std::optional<Object> object = lookup(name);
    return object && unknown_cause(program_, *object) == nullptr ? object : std::nullopt;
}

std::vector<std::string> FileModule::names() {
    run();
    define_all();
    std::vector<std::string> all;
    for (const auto& [symbol, value] : globals_->values()) {
        if (symbol.index < tree_.names.size()) {
            all.emplace_back(tree_.names.text(symbol));
        }
    }
    if (torch::is_library_package(path_)) {
        for (std::string_view name : torch::library_names()) {
            all.emplace_back(name);
        }
    }
    std::sort(all.begin(), all.end());
    for (std::string_view name : library_names()) {
        all.emplace_back(name);
    }
    return all;
}

// `from sardonyx import *` brings all of them.
std::vector<int64_t> FileModule::opset_versions() {
    if (opset_versions_.has_value()) {
        return *opset_versions_;
    }
    std::vector<int64_t> versions = Environment::opset_versions();
    for (const Star& star : stars_) {
        for (int64_t version = 1; star.module.is(ObjectKind::kModule); ++version) {
            if (!library_attribute(star.module.get<ModuleObject>().name,
                                   "opset" + std::to_string(version))) {
                break;
            }
            versions.push_back(version);
        }
    }
    if (state_ == State::kDone) {
        opset_versions_ = versions;
    }
    return versions;
}

void FileModule::bind(Symbol name, Object value) {
    pending_.erase(name.index);
    opset_versions_.reset();
    globals_->set(name, std::move(value));
}

void FileModule::define(std::string_view name, Object value) {
    bind(tree_.names.intern(name), std::move(value));
}

void FileModule::forget(Symbol name, const Object& unknown) {
    pending_.erase(name.index);
    opset_versions_.reset();
    globals_->set(name, unknown);
}

void FileModule::forget(std::string_view name, const Object& unknown) {
    Symbol symbol = find(name);
    forget(symbol.valid() ? symbol : tree_.names.intern(name), unknown);
}

void FileModule::forget_all(const std::shared_ptr<UnknownCause>& cause) {
    std::vector<Symbol> all;
    for (const auto& [symbol, value] : globals_->values()) {
        // The decorator alone stays, so that its scripts are found and refused.
        if (symbol.index < tree_.names.size() && !is_builtin(value, "sardonyx.script")) {
            all.push_back(symbol);
        }
    }
    Object unknown = unknown_object(cause);
    for (Symbol name : all) {
        forget(name, unknown);
    }
    pending_.clear();
    stars_.push_back({unknown});
}

std::vector<std::shared_ptr<ScriptFunction>> FileModule::scripts() {
    run();
    std::unordered_map<std::string_view, size_t> newest;
    for (size_t i = 0; i < scripts_.size(); ++i) {
        newest[scripts_[i]->name] = i;
    }
    std::vector<std::shared_ptr<ScriptFunction>> all;
    for (size_t i = 0; i < scripts_.size(); ++i) {
        if (newest[scripts_[i]->name] == i) {
            all.push_back(scripts_[i]);
            report_script(*scripts_[i]);
        }
    }
    return all;
}

std::vector<std::shared_ptr<ScriptFunction>> FileModule::pytorch_operators() {
    run();
    std::vector<std::shared_ptr<ScriptFunction>> all;
    for (const std::shared_ptr<ScriptFunction>& script : scripts_) {
        if (!script->pytorch_overloads.empty()) {
            all.push_back(script);
        }
    }
    return all;
}

std::shared_ptr<ScriptFunction> FileModule::find_script(std::string_view name) {
    run();
    std::optional<Object> held = value(name);
    if (held && held->is(ObjectKind::kScript)) {
        report_script(held->get<ScriptFunction>());
        return std::static_pointer_cast<ScriptFunction>(held->pointer());
    }
    if (!held || !is_unknown(*held)) {
        return nullptr;
    }
    const UnknownCause& cause = *held->get<Unbound>().cause;
    if (cause.model_of == nullptr) {
        report_unknown(program_, *held, name, cause.place,
                       "define the script at the top of the file");
    }
    return cause.model_of;
}

// The module of the file, or of a text in its place; null: it has not been loaded.
static FileModule* loaded(const Program& program, const std::string& path) {
    for (const std::unique_ptr<FileModule>& module : program.modules) {
        if (module->path() == path) {
            return module.get();
        }
    }
    return nullptr;
}

// --- Imports -------------------------------------------------------------------------------------

// A file of this package that has been imported, by whichever file: Python makes it a member.
std::optional<Object> FileModule::imported_part(std::string_view name) const {
    std::filesystem::path path(path_);
    if (path.filename() != "__init__.py") {
        return std::nullopt;
    }
    std::filesystem::path inner = path.parent_path() / name;
    for (const std::filesystem::path& one : {inner / "__init__.py", inner.concat(".py")}) {
        FileModule* part = loaded(program_, one.lexically_normal().string());
        if (part != nullptr && part->state_ != State::kNew) {
            std::string dotted = fmt::format("{}.{}", path.parent_path().stem().string(), name);
            return Object::make(ObjectKind::kModule, ModuleObject{std::move(dotted), part});
        }
    }
    return std::nullopt;
}

// Before `a/b/c.py`, found as `relative`, Python runs `a/__init__.py` and `a/b/__init__.py`. A
// folder without such a file is a package with nothing in it but its files.
void FileModule::run_packages_of(const std::string& path, std::string_view relative) {
    namespace fs = std::filesystem;
    fs::path folder = fs::path(path).parent_path();
    if (fs::path(path).filename() == "__init__.py") {
        folder = folder.parent_path();
    }
    std::vector<std::string> packages;
    for (auto depth = std::count(relative.begin(), relative.end(), '/'); depth > 0; --depth) {
        packages.push_back((folder / "__init__.py").lexically_normal().string());
        folder = folder.parent_path();
    }
    std::error_code failed;
    for (size_t i = packages.size(); i-- > 0;) {
        bool is_there =
            loaded(program_, packages[i]) != nullptr || fs::is_regular_file(packages[i], failed);
        FileModule* package =
            is_there ? load_file(program_, packages[i]) : load_text(program_, packages[i], {});
        if (package != nullptr && package->state_ == State::kNew) {
            package->start_folder_ = start_folder_;
            package->run();
        }
    }
}

Object FileModule::import_module(std::string_view dotted, uint32_t level, Range range) {
    if (level == 0 && is_library_module(dotted)) {
        return Object::make(ObjectKind::kModule, ModuleObject{std::string(dotted), nullptr});
    }
    auto as_module = [&](const std::string& path) {
        FileModule* module = load_file(program_, path);
        if (module == nullptr) {
            return Object::error();
        }
        if (module->state_ == State::kNew) {
            module->start_folder_ = start_folder_;
        }
        module->run();
        import_end_ = module->end_ != nullptr ? module->end_ : import_end_;
        if (!module->mistakes_.empty()) {
            import_mistakes_.push_back(module->mistakes_.front());
        }
        return Object::make(ObjectKind::kModule, ModuleObject{std::string(dotted), module});
    };
    auto elsewhere = program_.module_files.find(dotted);
    if (level == 0 && elsewhere != program_.module_files.end()) {
        return as_module(elsewhere->second);
    }
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::path folder = fs::path(path_).parent_path();
    for (uint32_t i = 1; i < level; ++i) {
        folder = folder / "..";
    }
    std::string relative(dotted);
    if (level == 0 && torch::is_in_library(dotted)) {
        folder = torch::kRoot;
        relative.erase(0, relative.find('.') + 1);
    }
    std::replace(relative.begin(), relative.end(), '.', '/');
    std::vector<fs::path> candidates;
    auto add_folder = [&](const fs::path& one) {
        candidates.insert(candidates.end(),
                          {one / relative / "__init__.py", one / (relative + ".py")});
    };
    // Python looks beside the file that it was started with, not beside the one that imports; a
    // file of a package may also be checked by itself.
    bool is_of_program = level == 0 && !torch::is_in_library(dotted);
    add_folder(is_of_program ? fs::path(start_folder_) : folder);
    if (level == 0) {
        const std::vector<std::string>& more = program_.file_options.library_path;
        std::for_each(more.begin(), more.end(), add_folder);
    }
    if (is_of_program) {
        while (fs::is_regular_file(folder / "__init__.py", failed)) {
            folder = fs::absolute(folder, failed).parent_path();
        }
        add_folder(folder);
    }
    for (const fs::path& candidate : candidates) {
        std::string path = candidate.lexically_normal().string();
        if (torch::is_declarations(path)) {
            return Object::make(ObjectKind::kModule,
                                ModuleObject{std::string(kDeclarations), nullptr});
        }
        if (loaded(program_, path) != nullptr || torch::library_file(path) ||
            fs::is_regular_file(candidate, failed)) {
            if (!torch::library_file(path)) {
                run_packages_of(path, relative);
            }
            return as_module(path);
        }
    }
    // A folder that is such a package.
    for (size_t i = 0; i < candidates.size(); i += 2) {
        if (!relative.empty() && fs::is_directory(candidates[i].parent_path(), failed)) {
            std::string path = candidates[i].lexically_normal().string();
            load_text(program_, path, {});
            return as_module(path);
        }
    }
    std::string_view near = level == 0 ? nearest(dotted, library_modules()) : std::string_view();
    diagnostics::Diagnostic& reported = program_.diagnostics.report(
        kUnknownModule, tree_.span(range),
        fmt::format("there is no module `{}{}` here", std::string(level, '.'), dotted));
    if (near.empty()) {
        reported.with_help(
            "the compiler knows files beside this one and in the folders of `--library-path`, and "
            "math, numpy, typing, onnx and sardonyx");
    } else {
        reported.with_help(fmt::format("did you mean `{}`?", near));
    }
    return Object::error();
}

// What `from module import name` gives. `is_pending`: the module is a file that is being run, and
// has no such name yet. Nothing: there is none, which has been reported.
std::optional<Object> FileModule::imported(const syntax::ImportFromStmt* statement,
                                           const syntax::Alias& alias, bool& is_pending) {
    std::string_view name = tree_.names.text(alias.name);
    Object module;
    if (statement->module.valid()) {
        module =
            import_module(tree_.names.text(statement->module), statement->level, statement->range);
    } else {
        module = import_module(name, statement->level, alias.range);
        return module.is_error() ? std::nullopt : std::optional<Object>(module);
    }
    if (module.is_error()) {
        return std::nullopt;
    }
    const ModuleObject& opened = module.get<ModuleObject>();
    if (opened.environment == nullptr) {
        return library_attribute(opened.name, name);
    }
    auto* other = static_cast<FileModule*>(opened.environment);
    if (std::optional<Object> value = other->lookup(name)) {
        return value;
    }
    is_pending = other->state_ == State::kRunning;
    if (!is_pending && std::filesystem::path(other->path_).filename() == "__init__.py") {
        diagnostics::Checkpoint said(program_.diagnostics);
        std::string inner = fmt::format("{}.{}", tree_.names.text(statement->module), name);
        Object part = import_module(inner, statement->level, alias.range);
        if (!part.is_error()) {
            return part;
        }
        said.take_back();
    }
    return std::nullopt;
}

// --- Loading -------------------------------------------------------------------------------------

FileModule* load_text(Program& program, const std::string& path, std::string text) {
    diagnostics::FileId file = program.sources.add(path, std::move(text));
    program.modules.push_back(std::make_unique<FileModule>(program, path, file));
    return program.modules.back().get();
}

FileModule* load_file(Program& program, const std::string& given) {
    std::string path = std::filesystem::path(given).lexically_normal().string();
    if (FileModule* module = loaded(program, path)) {
        return module;
    }
    if (std::optional<std::string_view> text = torch::library_file(path)) {
        return load_text(program, path, std::string(*text));
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

std::shared_ptr<ScriptFunction> find_script(FileModule& module, std::string_view name) {
    return module.find_script(name);
}

}  // namespace sardonyx::elaborate
