// textDocument/codeAction: the repairs that findings carry.
#include "lsp/requests.h"
#include "lsp/workspace_edit.h"

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
        Changes changes;
        for (const ide::Change& change : finding.changes) {
            add_change(state, document, change.range, change.text, changes);
        }
        actions.add(Json::object({{"title", finding.repair},
                                  {"kind", "quickfix"},
                                  {"isPreferred", finding.is_safe},
                                  {"edit", edit_of(std::move(changes))}}));
    }
    return actions;
}

}  // namespace sardonyx::lsp
