// textDocument/hover.
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json hover_answer(const State& state, const Document& document, const Json& parameters) {
    uint32_t offset = state.offset(document, parameters["position"]);
    std::optional<ide::Hover> found = ide::hover(*document.analysis, offset);
    if (!found) {
        return {};
    }
    return Json::object(
        {{"contents", Json::object({{"kind", "markdown"}, {"value", found->markdown}})},
         {"range", state.range(document, found->range)}});
}

}  // namespace sardonyx::lsp
