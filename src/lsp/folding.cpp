// textDocument/foldingRange.
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json folding_ranges(const State& state, const Document& document, const Json&) {
    Json list = Json::array();
    int64_t last = -1;
    for (const ide::Fold& one : ide::folds(*document.analysis)) {
        int64_t begin = state.place(document, one.range.begin)["line"].integer();
        int64_t end = state.place(document, one.range.end)["line"].integer();
        end -= one.kind == ide::FoldKind::kBrackets ? 1 : 0;
        if (!document.holds(one.range.begin) || end <= begin ||
            begin == last) {  // of two that begin in one line, the outer one
            continue;
        }
        last = begin;
        Json fold = Json::object({{"startLine", begin}, {"endLine", end}});
        if (one.kind == ide::FoldKind::kImports) {
            fold.set("kind", "imports");
        }
        list.add(std::move(fold));
    }
    return list;
}

}  // namespace sardonyx::lsp
