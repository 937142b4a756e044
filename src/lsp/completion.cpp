// textDocument/completion, completionItem/resolve.
#include "lsp/protocol.h"
#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

int kind_number(ide::ItemKind kind) {
    switch (kind) {
        case ide::ItemKind::kOperator:
            return CompletionItemKind::kMethod;
        case ide::ItemKind::kAttribute:
            return CompletionItemKind::kField;
        case ide::ItemKind::kWord:
            return CompletionItemKind::kEnumMember;
        case ide::ItemKind::kFunction:
            return CompletionItemKind::kFunction;
        case ide::ItemKind::kMember:
            return CompletionItemKind::kProperty;
        case ide::ItemKind::kVariable:
            break;
    }
    return CompletionItemKind::kVariable;
}

}  // namespace

Json completion(const State& state, const Document& document, const Json& parameters) {
    uint32_t offset = state.offset(document, parameters["position"]);
    ide::Completion found = ide::complete(*document.analysis, offset);
    Json range = state.range(document, found.replaced);
    Json items = Json::array();
    for (const ide::Item& one : found.items) {
        Json item =
            Json::object({{"label", one.label},
                          {"kind", kind_number(one.kind)},
                          {"sortText", one.order},
                          {"filterText", one.filter.empty() ? one.insert : one.filter},
                          {"textEdit", Json::object({{"range", range}, {"newText", one.insert}})}});
        if (!one.detail.empty()) {
            item.set("detail", one.detail);
        }
        if (one.is_deprecated) {
            item.set("tags", Json::array({int{CompletionItemTag::kDeprecated}}));
        }
        if (one.version != 0) {
            item.set("data", Json::object({{"domain", one.domain}, {"version", one.version}}));
        }
        items.add(std::move(item));
    }
    return Json::object({{"isIncomplete", found.is_incomplete}, {"items", std::move(items)}});
}

Json resolved_item(const Json& item) {
    Json resolved = item;
    const Json& data = item["data"];
    std::string text =
        ide::documentation(std::string(data["domain"].text()), std::string(item["label"].text()),
                           data["version"].integer());
    if (!text.empty() && resolved.is_object()) {
        resolved.set("documentation", Json::object({{"kind", "markdown"}, {"value", text}}));
    }
    return resolved;
}

}  // namespace sardonyx::lsp
