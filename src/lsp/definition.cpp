// textDocument/definition.
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json definition_answer(const State& state, const Document& document, const Json& parameters) {
    uint32_t offset = state.offset(document, parameters["position"]);
    std::optional<ide::Location> found = ide::definition(*document.analysis, offset);
    if (!found) {
        return {};
    }
    ide::LineTable lines(found->text);
    Json range = Json::object({{"start", state.place(lines, found->range.begin)},
                               {"end", state.place(lines, found->range.end)}});
    bool is_own = found->path == path_of(document.uri);
    return Json::object(
        {{"uri", is_own ? document.uri : uri_of(found->path)}, {"range", std::move(range)}});
}

}  // namespace sardonyx::lsp
