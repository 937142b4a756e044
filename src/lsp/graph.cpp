// sardonyx/graph, which is no request of LSP: the graph of a script as data. Its parameters are
// {"textDocument": {"uri"}, "name"}, its answer what `sardonyx view --json` writes.
#include "lsp/requests.h"

namespace sardonyx::lsp {

Result<Json> graph(State& state, const Json& parameters) {
    Result<std::string> data = state.graph(parameters["textDocument"]["uri"].text(),
                                           std::string(parameters["name"].text()));
    SDX_TRY(data);
    std::optional<Json> json = read_json(*data);
    return json ? Result<Json>(std::move(*json)) : Error{"the graph is nested too deep to be sent"};
}

}  // namespace sardonyx::lsp
