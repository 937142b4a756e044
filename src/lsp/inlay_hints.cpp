// textDocument/inlayHint: the type behind each name that an assignment binds.
#include "lsp/protocol.h"
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json inlay_hints(const State& state, const Document& document, const Json& parameters) {
    uint32_t begin = state.offset(document, parameters["range"]["start"]);
    uint32_t end = state.offset(document, parameters["range"]["end"]);
    Json hints = Json::array();
    for (const ide::KnownType& one : document.analysis->types()) {
        if (one.is_assignment && one.range.begin >= begin && one.range.end <= end) {
            hints.add(Json::object({{"position", state.place(document, one.range.end)},
                                    {"label", ": " + one.text},
                                    {"kind", int{InlayHintKind::kType}}}));
        }
    }
    return hints;
}

}  // namespace sardonyx::lsp
