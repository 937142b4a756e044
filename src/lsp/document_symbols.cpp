// textDocument/documentSymbol.
#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

// SymbolKind of the protocol.
int symbol_kind(ide::EntryKind kind) {
    switch (kind) {
        case ide::EntryKind::kClass:
            return 5;
        case ide::EntryKind::kMethod:
            return 6;
        case ide::EntryKind::kProperty:
            return 7;
        case ide::EntryKind::kField:
            return 8;
        case ide::EntryKind::kEnumMember:
            return 22;
        case ide::EntryKind::kFunction:
            break;
    }
    return 12;
}

Json list_of(const State& state, const Document& document,
             const std::vector<ide::OutlineEntry>& entries) {
    Json list = Json::array();
    for (const ide::OutlineEntry& one : entries) {
        if (!document.holds(one.symbol.name_range.begin)) {
            continue;
        }
        Json symbol =
            Json::object({{"name", one.symbol.name},
                          {"detail", one.symbol.is_script ? "script" : ""},
                          {"kind", symbol_kind(one.kind)},
                          {"range", state.range(document, one.symbol.range)},
                          {"selectionRange", state.range(document, one.symbol.name_range)}});
        if (!one.members.empty()) {
            symbol.set("children", list_of(state, document, one.members));
        }
        list.add(std::move(symbol));
    }
    return list;
}

}  // namespace

Json document_symbols(const State& state, const Document& document, const Json&) {
    return list_of(state, document, ide::outline(*document.analysis));
}

}  // namespace sardonyx::lsp
