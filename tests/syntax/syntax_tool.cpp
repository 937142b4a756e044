// Parses the files named on the command line, or one a line on standard input, for
// tests/python/language/test_syntax.py. For each file:
//     file PATH
//     errors N                      then N lines: OFFSET CODE MESSAGE
//     function BEGIN LINES          then LINES lines, the dump of an accepted function
// A function is accepted if no statement in it is opaque or an error; of one that is not, the
// functions inside are listed.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

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

void print_functions(const Tree& tree, Stmts statements) {
    for (const Stmt* node : statements) {
        if (node->kind == StmtKind::kFunctionDef && accepted(node)) {
            std::string text = dump_statement(tree, node, {true});
            // CPython 3.11 gives other positions within f-strings.
            if (text.find("(FString@") != std::string::npos) {
                text = dump_statement(tree, node, {false});
            }
            long lines = std::count(text.begin(), text.end(), '\n');
            std::printf("function %u %ld\n%s", node->range.begin, lines, text.c_str());
            continue;
        }
        for_each_block(node, [&](Stmts block) { print_functions(tree, block); });
    }
}

void print_file(const std::string& path, bool functions) {
    std::printf("file %s\n", path.c_str());
    Result<std::string> text = read_file(path, Limits().bytes);
    diagnostics::Sources sources;
    diagnostics::FileId file = sources.add(path, text.ok() ? *text : std::string());
    diagnostics::Diagnostics diagnostics;
    Tree tree = parse(sources, file, diagnostics);
    std::printf("errors %zu\n", diagnostics.error_count());
    for (const diagnostics::Diagnostic& item : diagnostics.items()) {
        if (item.kind->severity == diagnostics::Severity::kError) {
            std::printf("%u %s %s\n", item.labels[0].span.begin,
                        std::string(item.kind->code).c_str(), item.message.c_str());
        }
    }
    if (functions) {
        print_functions(tree, tree.body);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bool functions = true;
    std::vector<std::string> paths;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--errors") {
            functions = false;
        } else {
            paths.push_back(argv[i]);
        }
    }
    std::string line;
    while (paths.empty() && std::getline(std::cin, line)) {
        print_file(line, functions);
    }
    for (const std::string& path : paths) {
        print_file(path, functions);
    }
    return 0;
}
