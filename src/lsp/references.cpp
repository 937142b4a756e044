// textDocument/references and textDocument/documentHighlight.
#include "ide/uses.h"
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json references(const State& state, const Document& document, const Json& parameters) {
    std::optional<ide::NameUses> found =
        ide::uses_at(*document.analysis, state.offset(document, parameters["position"]));
    if (!found) {
        return {};
    }
    bool with_writes = parameters["context"]["includeDeclaration"].is_true();
    Json list = Json::array();
    for (const ide::Use& one : found->uses) {
        if (with_writes || !one.is_write) {
            list.add(state.location(document, one.range));
        }
    }
    return list;
}

Json highlights(const State& state, const Document& document, const Json& parameters) {
    std::optional<ide::NameUses> found =
        ide::uses_at(*document.analysis, state.offset(document, parameters["position"]));
    if (!found) {
        return {};
    }
    Json list = Json::array();
    for (const ide::Use& one : found->uses) {
        if (document.holds(one.range.begin)) {
            list.add(Json::object({{"range", state.range(document, one.range)},
                                   {"kind", one.is_write ? 3 : 2}}));  // Write, Read
        }
    }
    return list;
}

}  // namespace sardonyx::lsp
