// textDocument/definition.
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json definition_answer(const State& state, const Document& document, const Json& parameters) {
    uint32_t offset = state.offset(document, parameters["position"]);
    std::optional<ide::Location> found = ide::definition(*document.analysis, offset);
    return found ? state.location(found->path, found->text, found->range) : Json();
}

}  // namespace sardonyx::lsp
