// Parses files for tests/python/language/test_syntax.py. A request is a path, and `functions` if
// trees are wanted; the answer has the fields
//     N                  then N fields: OFFSET CODE MESSAGE of an error
//     BEGIN LINES        then LINES fields, the dump of an accepted function; for each of these
// A function is accepted if no statement in it is opaque or an error; of one that is not, the
// functions inside are listed.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../requests.h"
#include "base/file.h"
#include "syntax/dump.h"

namespace {

using namespace sardonyx;
using namespace sardonyx::syntax;

template <typename Visit>
void for_each_block(const Stmt* node, Visit visit) {
    if (const IfStmt* branch = maybe_as<IfStmt>(node)) {
        visit(branch->body);
        visit(branch->orelse);
    } else if (const ForStmt* loop = maybe_as<ForStmt>(node)) {
        visit(loop->body);
        visit(loop->orelse);
    } else if (const WhileStmt* loop = maybe_as<WhileStmt>(node)) {
        visit(loop->body);
        visit(loop->orelse);
    } else if (const FunctionDefStmt* function = maybe_as<FunctionDefStmt>(node)) {
        visit(function->body);
    } else if (const OpaqueStmt* opaque = maybe_as<OpaqueStmt>(node)) {
        visit(opaque->body);
    }
}

bool accepted(const Stmt* node) {
    bool result = node->kind != StmtKind::kOpaque && node->kind != StmtKind::kError;
    for_each_block(node, [&](Stmts block) {
        for (const Stmt* inner : block) {
            result = result && accepted(inner);
        }
    });
    return result;
}

void add_functions(const Tree& tree, Stmts statements, std::vector<std::string>* fields) {
    for (const Stmt* node : statements) {
        if (node->kind == StmtKind::kFunctionDef && accepted(node)) {
            std::string text = dump_statement(tree, node, {true});
            // CPython 3.11 gives other positions within f-strings.
            if (text.find("(FString@") != std::string::npos) {
                text = dump_statement(tree, node, {false});
            }
            std::vector<std::string> lines = test::split(text, '\n');
            lines.pop_back();  // the text ends with a newline
            fields->push_back(fmt::format("{} {}", node->range.begin, lines.size()));
            fields->insert(fields->end(), lines.begin(), lines.end());
            continue;
        }
        for_each_block(node, [&](Stmts block) { add_functions(tree, block, fields); });
    }
}

std::string answer(const std::vector<std::string>& request) {
    const std::string& path = request[0];
    Result<std::string> text = read_file(path, Limits().bytes);
    diagnostics::Sources sources;
    diagnostics::FileId file = sources.add(path, text.ok() ? *text : std::string());
    diagnostics::Diagnostics diagnostics;
    Tree tree = parse(sources, file, diagnostics);
    std::vector<std::string> fields = {std::to_string(diagnostics.error_count())};
    for (const diagnostics::Diagnostic& item : diagnostics.items()) {
        if (item.kind->severity == diagnostics::Severity::kError) {
            fields.push_back(
                fmt::format("{} {} {}", item.labels[0].span.begin, item.kind->code, item.message));
        }
    }
    if (request[1] == "functions") {
        add_functions(tree, tree.body, &fields);
    }
    return fmt::format("{}", fmt::join(fields, "\t"));
}

}  // namespace

int main() {
    return test::serve(2, answer);
}
