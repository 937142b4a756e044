// textDocument/codeAction: the repairs that findings carry.
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json code_actions(const State& state, const Document& document, const Json& parameters) {
    uint32_t begin = state.offset(document, parameters["range"]["start"]);
    uint32_t end = state.offset(document, parameters["range"]["end"]);
    Json actions = Json::array();
    for (const ide::Finding& finding : document.analysis->findings()) {
        bool touches = finding.range.begin <= end && begin <= finding.range.end;
        if (!touches || finding.changes.empty()) {
            continue;
        }
        Json edits = Json::array();
        for (const ide::Change& change : finding.changes) {
            edits.add(Json::object(
                {{"range", state.range(document, change.range)}, {"newText", change.text}}));
        }
        Json changes = Json::object();
        changes.set(document.uri, std::move(edits));
        actions.add(Json::object({{"title", finding.repair},
                                  {"kind", "quickfix"},
                                  {"isPreferred", finding.is_safe},
                                  {"edit", Json::object({{"changes", std::move(changes)}})}}));
    }
    return actions;
}

}  // namespace sardonyx::lsp
