// textDocument/signatureHelp.
#include "lsp/requests.h"

namespace sardonyx::lsp {

Json signature_answer(const State& state, const Document& document, const Json& parameters) {
    uint32_t offset = state.offset(document, parameters["position"]);
    std::optional<ide::SignatureHelp> help = ide::signature_help(*document.analysis, offset);
    if (!help) {
        return {};
    }
    // Whatever positions are in, these are code units of UTF-16 (LSP 3.17, ParameterInformation).
    ide::LineTable label(help->label);
    auto units = [&label](uint32_t place) {
        return label.place(place, ide::Encoding::kUtf16).character;
    };
    Json list = Json::array();
    for (const ide::SignatureHelp::Parameter& one : help->parameters) {
        list.add(Json::object(
            {{"label", Json::array({units(one.begin), units(one.end)})},
             {"documentation", Json::object({{"kind", "markdown"}, {"value", one.doc}})}}));
    }
    Json signature = Json::object({{"label", help->label}, {"parameters", std::move(list)}});
    // A number past the last: no parameter is marked.
    int active = help->active < 0 ? static_cast<int>(help->parameters.size()) : help->active;
    return Json::object({{"signatures", Json::array({std::move(signature)})},
                         {"activeSignature", 0},
                         {"activeParameter", active}});
}

}  // namespace sardonyx::lsp
