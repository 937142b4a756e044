#include "lsp/workspace_edit.h"

namespace sardonyx::lsp {

void add_change(const State& state, const Document& document, ide::Range range,
                std::string_view text, Changes& changes) {
    Json where = state.location(document, range);
    auto [at, is_new] = changes.try_emplace(std::string(where["uri"].text()), Json::array());
    at->second.add(Json::object({{"range", where["range"]}, {"newText", text}}));
}

Json edit_of(Changes changes) {
    Json by_uri = Json::object();
    for (auto& [uri, list] : changes) {
        by_uri.set(uri, std::move(list));
    }
    return Json::object({{"changes", std::move(by_uri)}});
}

}  // namespace sardonyx::lsp
