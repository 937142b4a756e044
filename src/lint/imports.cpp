// Imports whose names nothing in the file reads.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/stop.h"
#include "elaborate/flow/bindings.h"
#include "lint/diagnostics.h"
#include "lint/lints.h"
#include "syntax/visit.h"

namespace sardonyx::lint {
namespace {

using syntax::Expr;
using syntax::Range;
using syntax::Stmt;
using syntax::StmtKind;

// The names that a file reads, also in the text of strings (annotations, `__all__`) and of
// statements that the tree keeps no more than the bodies of.
class Reads {
  public:
    explicit Reads(const File& file) : file_(file), names_(file.tree.names.size()) {}

    // `from` is where the block begins. The tree has no decorators of classes: they stand between
    // the statement before and the class.
    void block(syntax::Stmts statements, uint32_t from) {
        for (const Stmt* statement : statements) {
            stop_point();
            uint32_t before = from;
            from = statement->range.end;
            if (statement->kind == StmtKind::kOpaque) {
                words(file_.source({std::min(before, statement->range.begin), from}));
            } else {
                syntax::each_child(
                    statement, [this](const Expr* expr) { this->expr(expr); },
                    [&](const Stmt* inner) {
                        block(syntax::Stmts(&inner, 1), before);
                        before = inner->range.end;
                    });
            }
        }
    }
    // `symbol` of the name: not valid where the file has it in other texts only.
    bool has(Symbol symbol, std::string_view name) const {
        return (symbol.valid() && names_[symbol.index]) || words_.count(name) != 0;
    }

  private:
    void see(const Expr* expr) {
        if (const auto* name = syntax::maybe_as<syntax::NameExpr>(expr)) {
            if (name->name.valid()) {
                names_[name->name.index] = true;
            }
        } else if (const auto* text = syntax::maybe_as<syntax::StringExpr>(expr)) {
            words(text->value);
        }
    }

    void expr(const Expr* expr) {
        auto visit = [this](const Expr* inner) { see(inner); };
        syntax::each_expression(expr, visit);
    }

    void words(std::string_view text) {
        auto is_word = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                   static_cast<unsigned char>(c) >= 0x80;
        };
        for (size_t at = 0; at < text.size();) {
            size_t end = at;
            while (end < text.size() && is_word(text[end])) {
                ++end;
            }
            if (end > at) {
                words_.insert(text.substr(at, end - at));
            }
            at = end + 1;
        }
    }

    const File& file_;
    std::vector<bool> names_;  // by symbol
    std::unordered_set<std::string_view> words_;
};

// The whole line of a statement that stands alone on it at the top of the file; empty: it does not.
Range line_of(const File& file, Range statement) {
    std::string_view text = file.program.sources.text(file.tree.file);
    bool at_begin = statement.begin == 0 || text[statement.begin - 1] == '\n' ||
                    text[statement.begin - 1] == '\r';
    size_t end = std::min(text.find_first_of("\r\n", statement.end), text.size());
    std::string_view rest = text.substr(statement.end, end - statement.end);
    size_t first = rest.find_first_not_of(" \t");
    if (!at_begin || (first != std::string_view::npos && rest[first] != '#')) {
        return {};
    }
    if (end < text.size()) {
        end += text.substr(end, 2) == "\r\n" ? 2 : 1;
    }
    return {statement.begin, static_cast<uint32_t>(end)};
}

constexpr std::string_view kBlanks = " \t";

bool has_comment(std::string_view text, Range before, Range after) {
    return text.substr(before.end, after.begin - before.end).find('#') != std::string_view::npos;
}

// A name that another one follows. With its own comment, but not with one above the next.
Range removal_before_next(std::string_view text, Range name, Range next) {
    size_t comma = text.find_first_not_of(kBlanks, name.end);
    if (!has_comment(text, name, next) || text[comma] != ',') {
        return {name.begin, next.begin};
    }
    size_t line = text.find('\n', comma);
    return {name.begin, static_cast<uint32_t>(text.find_first_not_of(kBlanks, line + 1))};
}

// The last name: a comment of the one before stays on its line.
Range removal_of_last(std::string_view text, Range before, Range name) {
    if (!has_comment(text, before, name)) {
        return {before.end, name.end};
    }
    size_t end = text.find_first_not_of(kBlanks, name.end);
    end = end < text.size() && text[end] == ',' ? end + 1 : name.end;
    size_t rest = text.find_first_not_of(kBlanks, end);
    size_t begin = text.find_last_not_of(kBlanks, name.begin - 1) + 1;
    bool is_alone = text[begin - 1] == '\n' && rest < text.size() &&
                    (text[rest] == '#' || text[rest] == '\n' || text[rest] == '\r');
    size_t line = is_alone ? text.find('\n', rest) : std::string_view::npos;
    return line != std::string_view::npos
               ? Range{static_cast<uint32_t>(begin), static_cast<uint32_t>(line + 1)}
               : Range{name.begin, static_cast<uint32_t>(end)};
}

// What goes when the alias goes: with its comma, or with the whole statement.
Range removal(const File& file, const Stmt* statement, std::span<const syntax::Alias> names,
              size_t index) {
    if (names.size() == 1) {
        return line_of(file, statement->range);
    }
    std::string_view text = file.program.sources.text(file.tree.file);
    return index + 1 < names.size()
               ? removal_before_next(text, names[index].range, names[index + 1].range)
               : removal_of_last(text, names[index - 1].range, names[index].range);
}

// Whether the line on which the offset lies says `# noqa`, or `# noqa: F401` among other codes:
// what says so to other linters says so to us.
bool has_noqa(const File& file, uint32_t offset) {
    constexpr std::string_view kMark = "# noqa", kCode = "f401";
    diagnostics::FileId id = file.tree.file;
    const diagnostics::Sources& sources = file.program.sources;
    std::string line(sources.line(id, sources.position(id, offset).line));
    std::transform(line.begin(), line.end(), line.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    size_t mark = line.find(kMark);
    if (mark == std::string::npos) {
        return false;
    }
    std::string_view rest = std::string_view(line).substr(mark + kMark.size());
    bool has_codes = rest.substr(0, 1) == ":";
    return !has_codes || rest.find(kCode) != std::string_view::npos;
}

// The one opset of ai.onnx says which operators Python's are, without being read.
bool is_opset(const File& file, std::string_view name) {
    std::optional<elaborate::Object> object = file.environment.known(name);
    return object && object->is(elaborate::ObjectKind::kOpset) &&
           object->get<elaborate::OpsetObject>().domain.empty() && !file.scripts.empty() &&
           file.environment.opset_versions().size() == 1;
}

void check_names(const File& file, const Reads& reads, const Stmt* statement,
                 std::span<const syntax::Alias> names) {
    for (size_t i = 0; i < names.size(); ++i) {
        std::string_view name = file.text(names[i].name);
        // `import x as x` says that the name is for others.
        bool is_export = names[i].as_name.valid() && names[i].as_name == names[i].name;
        std::string_view bound =
            names[i].as_name.valid() ? file.text(names[i].as_name) : name.substr(0, name.find('.'));
        Symbol symbol = elaborate::imported_name(file.tree.names, names[i]);
        if (name == "*" || is_export || reads.has(symbol, bound) || is_opset(file, bound) ||
            has_noqa(file, names[i].range.begin) || has_noqa(file, statement->range.begin)) {
            continue;
        }
        diagnostics::Diagnostic& reported =
            file.report(kUnusedImport, names[i].range, fmt::format("`{}` is not used", bound))
                .with_help("remove the import");
        Range gone = removal(file, statement, names, i);
        if (gone.end > gone.begin) {
            reported.edit(file.tree.span(gone), "");
        }
    }
}

}  // namespace

void find_unused_imports(const File& file) {
    constexpr std::string_view kPackage = "__init__.py";  // what it imports is for others
    std::string_view path = file.path;
    if (path.size() >= kPackage.size() && path.substr(path.size() - kPackage.size()) == kPackage) {
        return;
    }
    Reads reads(file);
    reads.block(file.tree.body, 0);
    for (const Stmt* statement : file.tree.body) {
        if (const auto* import = syntax::maybe_as<syntax::ImportStmt>(statement)) {
            check_names(file, reads, statement, import->names);
        } else if (const auto* from = syntax::maybe_as<syntax::ImportFromStmt>(statement)) {
            if (!from->module.valid() || file.text(from->module) != "__future__") {
                check_names(file, reads, statement, from->names);
            }
        }
    }
}

}  // namespace sardonyx::lint
