// textDocument/documentSymbol.
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json document_symbols(const State& state, const Document& document, const Json&) {
    Json list = Json::array();
    for (const ide::Symbol& one : ide::symbols(*document.analysis)) {
        if (!document.holds(one.name_range.begin)) {
            continue;
        }
        list.add(Json::object({{"name", one.name},
                               {"detail", one.is_script ? "script" : ""},
                               {"kind", 12},  // Function
                               {"range", state.range(document, one.range)},
                               {"selectionRange", state.range(document, one.name_range)}}));
    }
    return list;
}

}  // namespace sardonyx::lsp
