// textDocument/documentSymbol.
#include "lsp/protocol.h"
#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

int symbol_kind(ide::EntryKind kind) {
    switch (kind) {
        case ide::EntryKind::kClass:
            return SymbolKind::kClass;
        case ide::EntryKind::kMethod:
            return SymbolKind::kMethod;
        case ide::EntryKind::kProperty:
            return SymbolKind::kProperty;
        case ide::EntryKind::kField:
            return SymbolKind::kField;
        case ide::EntryKind::kEnumMember:
            return SymbolKind::kEnumMember;
        case ide::EntryKind::kFunction:
            break;
    }
    return SymbolKind::kFunction;
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
