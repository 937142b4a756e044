// A file as an environment: its top-level names, evaluated natively when a script asks for them.
//
// Only what a script uses is evaluated, so a file may hold any other Python. The last binding of a
// name in the text is its value; statements inside `if`, `try` and `with` at the top count as if
// they stood there, but for `if __name__ == "__main__"`.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elaborate/elaborate.h"
#include "elaborate/environment.h"

namespace sardonyx::elaborate {

struct Context;
class Scope;

class FileModule : public Environment {
  public:
    FileModule(Program& program, std::string path, diagnostics::FileId file);
    ~FileModule() override;

    std::optional<Object> lookup(std::string_view name) override;
    std::optional<Object> known(std::string_view name) override;
    std::vector<std::string> names() override;

    // The scripts that the file itself defines, in the order of the text.
    std::vector<std::shared_ptr<ScriptFunction>> scripts();
    const std::string& path() const { return path_; }
    const syntax::Tree& tree() const { return tree_; }
    const syntax::Tree* file_tree() const override { return &tree_; }

  private:
    struct Binding {
        const syntax::Stmt* statement = nullptr;
        const syntax::Alias* alias = nullptr;  // of an import
        const syntax::Expr* target = nullptr;  // of an assignment: the name or the tuple around it
        std::optional<Object> value;           // once evaluated
        bool evaluating = false;
        // What evaluating it has reported, and where: a compilation that is tried takes its
        // findings back, and the next one needs them.
        std::vector<diagnostics::Diagnostic> findings;
        size_t place = 0;
    };

    void bind_block(syntax::Stmts statements);
    void bind_statement(const syntax::Stmt* statement);
    void bind_target(const syntax::Stmt* statement, const syntax::Expr* whole,
                     const syntax::Expr* target);
    Object evaluate(std::string_view name, const Binding& binding);
    void report_again(Binding& binding);
    Object evaluate_assignment(std::string_view name, const Binding& binding);
    Object evaluate_function(const syntax::FunctionDefStmt* definition);
    Object evaluate_import(const Binding& binding);
    Object evaluate_import_from(const syntax::ImportFromStmt* statement,
                                const syntax::Alias& alias);
    Object import_module(std::string_view dotted, uint32_t level, syntax::Range range);
    template <typename Body>
    Object with_context(Body&& body);

    Program& program_;
    std::string path_;
    syntax::Tree tree_;
    ScriptFunction top_;  // stands for the file's own code
    std::shared_ptr<Scope> scope_;
    std::map<std::string, Binding, std::less<>> bindings_;
    std::vector<const syntax::ImportFromStmt*> stars_;
    std::set<std::string, std::less<>> starred_;  // names that stars_ are being asked for
    std::vector<const syntax::FunctionDefStmt*> definitions_;
};

}  // namespace sardonyx::elaborate
