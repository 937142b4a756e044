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
        std::vector<std::pair<ide::Range, std::string_view>> edits;
        for (const ide::Change& change : finding.changes) {
            edits.emplace_back(change.range, change.text);
        }
        actions.add(Json::object({{"title", finding.repair},
                                  {"kind", "quickfix"},
                                  {"isPreferred", finding.is_safe},
                                  {"edit", workspace_edit(state, document, edits)}}));
    }
    return actions;
}

}  // namespace sardonyx::lsp
