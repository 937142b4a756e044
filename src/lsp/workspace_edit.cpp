#include "lsp/workspace_edit.h"

#include <map>
#include <string>

namespace sardonyx::lsp {

Json workspace_edit(const State& state, const Document& document,
                    std::span<const std::pair<ide::Range, std::string_view>> edits) {
    std::map<std::string, Json> by_uri;
    for (const auto& [range, text] : edits) {
        Json where = state.location(document, range);
        auto [at, is_new] = by_uri.try_emplace(std::string(where["uri"].text()), Json::array());
        at->second.add(Json::object({{"range", where["range"]}, {"newText", text}}));
    }
    Json changes = Json::object();
    for (auto& [uri, list] : by_uri) {
        changes.set(uri, std::move(list));
    }
    return Json::object({{"changes", std::move(changes)}});
}

}  // namespace sardonyx::lsp
