// textDocument/prepareRename and textDocument/rename: of variables of functions. Null, which leaves
// the name to other servers, where a change in this file alone might not be enough.
#include "ide/uses.h"
#include "lsp/requests.h"
#include "lsp/workspace_edit.h"

namespace sardonyx::lsp {

Json prepared_rename(const State& state, const Document& document, const Json& parameters) {
    uint32_t offset = state.offset(document, parameters["position"]);
    std::optional<ide::NameUses> found = ide::uses_at(*document.analysis, offset);
    if (!found || !found->is_variable || !found->is_whole) {
        return {};
    }
    for (const ide::Use& one : found->uses) {
        if (one.range.begin <= offset && offset <= one.range.end) {
            return state.range(document, one.range);
        }
    }
    return {};
}

Json rename(const State& state, const Document& document, const Json& parameters) {
    std::string_view name = parameters["newName"].text();
    std::optional<ide::NameUses> found =
        ide::renamed(*document.analysis, state.offset(document, parameters["position"]), name);
    if (!found) {
        return {};
    }
    std::vector<std::pair<ide::Range, std::string_view>> edits;
    for (const ide::Use& one : found->uses) {
        edits.emplace_back(one.range, name);
    }
    return workspace_edit(state, document, edits);
}

}  // namespace sardonyx::lsp
