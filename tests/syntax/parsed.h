// A text, parsed, and its findings in short words for comparison.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/dump.h"

namespace sardonyx::syntax {

struct Parsed {
    explicit Parsed(std::string text, const Limits& limits = {})
        : file(sources.add("test.py", std::move(text))),
          tree(parse(sources, file, diagnostics, limits)) {}

    std::string dump() const { return dump_tree(tree); }

    // "line:column code `marked text`" of each finding.
    std::vector<std::string> findings() const {
        std::vector<std::string> result;
        for (const diagnostics::Diagnostic& item : diagnostics.items()) {
            result.push_back(place(item.labels[0].span) + " " + std::string(item.kind->code) +
                             " `" + marked(item.labels[0].span) + "`");
        }
        return result;
    }
    // "line:column `marked text`" of the second label of a finding.
    std::string second(size_t finding) const {
        const diagnostics::Diagnostic& item = diagnostics.items()[finding];
        if (item.labels.size() < 2) {
            return "";
        }
        return place(item.labels[1].span) + " `" + marked(item.labels[1].span) + "`";
    }
    std::string place(diagnostics::Span span) const {
        diagnostics::Position at = sources.position(file, span.begin);
        return std::to_string(at.line) + ":" + std::to_string(at.column);
    }
    std::string marked(diagnostics::Span span) const {
        return std::string(sources.text(file).substr(span.begin, span.end - span.begin));
    }
    // The names of the functions at the top, each with the number of its statements: "f/3".
    std::vector<std::string> functions() const {
        std::vector<std::string> result;
        for (const Stmt* statement : tree.body) {
            if (const FunctionDefStmt* function = maybe_as<FunctionDefStmt>(statement)) {
                result.push_back(std::string(tree.names.text(function->name)) + "/" +
                                 std::to_string(function->body.size()));
            }
        }
        return result;
    }

    diagnostics::Sources sources;
    diagnostics::FileId file;
    diagnostics::Diagnostics diagnostics;
    Tree tree;
};

using Strings = std::vector<std::string>;

}  // namespace sardonyx::syntax
