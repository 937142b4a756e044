// textDocument/codeLens: "graph" and "run" above each script. The commands are the client's, which
// is given the file and the name.
#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

struct LensRow {
    const char* title;
    const char* command;
};
constexpr LensRow kLenses[] = {{"graph", "sardonyx.showGraph"}, {"run", "sardonyx.run"}};

}  // namespace

Json code_lenses(const State& state, const Document& document, const Json&) {
    Json list = Json::array();
    for (const ide::Symbol& one : ide::symbols(*document.analysis)) {
        for (const LensRow& row : kLenses) {
            if (one.is_script && document.holds(one.name_range.begin)) {
                Json command = Json::object({{"title", row.title},
                                             {"command", row.command},
                                             {"arguments", Json::array({document.uri, one.name})}});
                list.add(Json::object({{"range", state.range(document, one.name_range)},
                                       {"command", std::move(command)}}));
            }
        }
    }
    return list;
}

}  // namespace sardonyx::lsp
