// A file as an environment: its top level is a Python program, which runs here (top_level.cpp) when
// its names or scripts are asked for first. Scripts see the values that the names have at its end,
// as those that Python compiles do.
//
// Of the library's files, which many programs need few functions of, a function is parsed and
// defined when its name is asked for, and an import is made then.
//
// A statement that cannot be run makes unknown what it may have changed (unknowns.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "elaborate/objects/environment.h"
#include "elaborate/objects/object.h"
#include "elaborate/objects/program.h"

namespace sardonyx::elaborate {

struct Context;
struct UnknownCause;
class Scope;

class FileModule : public Environment {
  public:
    FileModule(Program& program, std::string path, diagnostics::FileId file);
    ~FileModule() override;

    std::optional<Object> lookup(std::string_view name) override;
    std::optional<Object> lookup_symbol(Symbol name, std::string_view text) override;
    std::optional<Object> known(std::string_view name) override;
    std::vector<std::string> names() override;
    std::vector<int64_t> opset_versions() override;
    bool never_binds(std::string_view name) override;
    void bind(Symbol name, Object value) override;
    // Gives it a name before its top level runs, as a caller of Python's `exec` does by `globals`.
    void define(std::string_view name, Object value);

    // What a name of the file holds now, known or not; nothing where it has no such name.
    std::optional<Object> value(Symbol name);
    std::optional<Object> value(std::string_view name);
    // Gives a name an object that says why it is not known.
    void forget(Symbol name, const Object& unknown);
    void forget(std::string_view name, const Object& unknown);
    // The same for all names of the file, also those that it does not have yet.
    void forget_all(const std::shared_ptr<UnknownCause>& cause);

    // The scripts that the file itself defines, in the order of the text.
    std::vector<std::shared_ptr<ScriptFunction>> scripts();
    // Those that are operators of PyTorch, also where others have taken their names since.
    std::vector<std::shared_ptr<ScriptFunction>> pytorch_operators();
    // The one that the name stands for at the end of the file (elaborate.h).
    std::shared_ptr<ScriptFunction> find_script(std::string_view name);
    // Reports what keeps Python from importing the file, or else scripts that are not made; whether
    // there is such a thing. Files without scripts that import no sardonyx may be anything.
    bool report_mistakes();
    const std::string& path() const { return path_; }
    const syntax::Tree& tree() const { return tree_; }
    const syntax::Tree* file_tree() const override { return &tree_; }

  private:
    enum class State : uint8_t { kNew, kRunning, kDone };

    // A name imported from a file whose own top level is still running: looked up when it is used.
    struct Pending {
        const syntax::ImportFromStmt* statement;
        const syntax::Alias* alias;
    };
    struct Star {
        Object module;  // a library module, or why what it gives is not known
    };

    void run();
    void run_at_top(const std::function<void(Context&)>& statements);
    // The names of the library's files stand for functions that nobody has asked for.
    void defer_functions();
    // Defines the function that the name of a file of the library stands for, if it has not been.
    void run_deferred(Symbol name);
    // Gives all names of a file of the library their values.
    void define_all();
    // After an import: the error that ends the imported file.
    void raise_from_import(const Context& c);
    // Python raises what nobody catches: importing the file fails.
    void end_file(const std::shared_ptr<UnknownCause>& cause);
    void run_block(Context& c, syntax::Stmts statements);
    void run_statement(Context& c, const syntax::Stmt* statement);
    void run_if(Context& c, const syntax::IfStmt* statement);
    void run_opaque(Context& c, const syntax::OpaqueStmt* statement);
    void run_guarded(Context& c, const syntax::OpaqueStmt* statement);
    void run_assert(Context& c, const syntax::AssertStmt* statement);
    void run_definition(Context& c, const syntax::FunctionDefStmt* statement);
    Object decorated(Context& c, const syntax::FunctionDefStmt* definition);
    Object make_default(Context& c, const syntax::FunctionDefStmt* definition,
                        const syntax::Parameter& parameter);
    Object make_script(Context& c, const syntax::FunctionDefStmt* definition,
                       const DecoratorObject& decorator);
    void run_import(Context& c, const syntax::ImportStmt* statement);
    void run_import_from(Context& c, const syntax::ImportFromStmt* statement);
    void run_star(Context& c, const syntax::ImportFromStmt* statement, const Object& module);
    enum class BoundNames : uint8_t { kForgotten, kKept };
    // Runs `body`, which does what the statement does. Where that cannot be done, everything that
    // it may have changed becomes unknown, and so do the names that it binds, unless they are kept;
    // then the cause, else null.
    template <typename Body>
    std::shared_ptr<UnknownCause> attempt(Context& c, const syntax::Stmt* statement, Body&& body,
                                          BoundNames names = BoundNames::kForgotten);
    std::shared_ptr<UnknownCause> make_cause(const syntax::Stmt* statement,
                                             const diagnostics::Checkpoint& said);
    std::shared_ptr<ScriptFunction> script_of_model(const syntax::Stmt* statement);
    void give_up(const syntax::Stmt* statement, const std::shared_ptr<UnknownCause>& cause,
                 BoundNames names);
    Object import_module(std::string_view dotted, uint32_t level, syntax::Range range);
    void run_packages_of(const std::string& path, std::string_view relative);
    std::optional<Object> imported(const syntax::ImportFromStmt* statement,
                                   const syntax::Alias& alias, bool& is_pending);
    std::optional<Object> starred(std::string_view name);
    std::optional<Object> imported_part(std::string_view name) const;
    std::optional<Object> of_package(std::string_view name);
    Symbol find(std::string_view name);
    void report_script(const ScriptFunction& function);
    void report_all(const std::vector<diagnostics::Diagnostic>& findings);
    // That Python raises an error there, which ends the file unless a `try` is around.
    void add_mistake(const Context& c, const std::shared_ptr<UnknownCause>& cause);
    // That a module is not known, where its name is near that of the package.
    void add_import_mistake(const Context& c, std::string_view module,
                            const std::shared_ptr<UnknownCause>& cause);
    bool has_known_script_decorator(const syntax::FunctionDefStmt* definition);

    Program& program_;
    std::string path_;
    std::string start_folder_;  // in which Python looks for modules first
    bool is_of_library_;
    syntax::Tree tree_;
    ScriptFunction top_;              // stands for the file's own code
    std::shared_ptr<Scope> root_;     // what its functions close over: nothing
    std::shared_ptr<Scope> globals_;  // the names
    State state_ = State::kNew;
    std::shared_ptr<UnknownCause> import_end_;  // where a file ends that has been imported; or null
    std::shared_ptr<UnknownCause> end_;  // the statement at which Python ends the file; or null
    // Statements with names that are defined nowhere: Python ends the file there, too. But such a
    // name may be one that is being written, and nothing else is forgotten for it.
    std::vector<std::shared_ptr<UnknownCause>> mistakes_;
    // Where Python ends the files that a statement imports.
    std::vector<std::shared_ptr<UnknownCause>> import_mistakes_;
    // Imports of `sardonix`, which may be there: mistakes where nothing else imports the package.
    std::vector<std::shared_ptr<UnknownCause>> misspelt_imports_;
    // Functions with the decorator of scripts that could not be decorated.
    std::vector<std::pair<const syntax::FunctionDefStmt*, std::shared_ptr<UnknownCause>>>
        unmade_scripts_;
    // What the statements of the file bind, those in functions as well; once it has been asked for.
    std::optional<std::unordered_set<std::string_view>> bound_anywhere_;
    // Statements that ran past the limits, after so many of which nothing more is run.
    static constexpr int kMostEndless = 10;
    int endless_ = 0;
    std::unordered_map<std::string_view, Symbol> symbols_;  // of globals_, as far as `indexed_`
    size_t indexed_ = 0;
    std::vector<Star> stars_;
    std::unordered_map<uint32_t, Pending> pending_;  // by symbol
    // Functions of a file of the library that have not been parsed: where they begin, by symbol.
    std::unordered_map<uint32_t, uint32_t> deferred_;
    std::set<std::string, std::less<>> asked_;  // names that pending imports are asked for
    std::vector<std::shared_ptr<ScriptFunction>> scripts_;
    // Mistakes in the decorators of scripts, by their definitions.
    std::unordered_map<const syntax::FunctionDefStmt*, std::vector<diagnostics::Diagnostic>>
        script_findings_;
    // Of all names, once the file has been run: each failed call asks.
    std::optional<std::vector<int64_t>> opset_versions_;
};

}  // namespace sardonyx::elaborate
