// textDocument/references and textDocument/documentHighlight. Parameters and members are looked for
// in the files that are open and those of the roots, too, other names in their file.
#include "ide/shared_names.h"
#include "lsp/protocol.h"
#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

void add_uses(const State& state, const Document& document, const std::vector<ide::Use>& uses,
              bool with_writes, Json& list) {
    for (const ide::Use& one : uses) {
        if (with_writes || !one.is_write) {
            list.add(state.location(document, one.range));
        }
    }
}

}  // namespace

Result<Json> references(State& state, const Json& parameters) {
    const Document* document = state.document(parameters["textDocument"]["uri"].text());
    if (document == nullptr) {
        return Error{"the document is not open"};
    }
    uint32_t offset = state.offset(*document, parameters["position"]);
    bool with_writes = parameters["context"]["includeDeclaration"].is_true();
    Json list = Json::array();
    if (std::optional<ide::SharedName> name = ide::shared_name_at(*document->analysis, offset)) {
        state.each_file_with(name->name, [&](const Document& other) {
            ide::SharedUses found = ide::uses_of(*other.analysis, *name);
            std::erase_if(found.uses,
                          [&](const ide::Use& one) { return !other.holds(one.range.begin); });
            add_uses(state, other, found.uses, with_writes, list);
        });
        return list;
    }
    std::optional<ide::NameUses> found = ide::uses_at(*document->analysis, offset);
    if (!found) {
        return Json();
    }
    add_uses(state, *document, found->uses, with_writes, list);
    return list;
}

Json highlights(const State& state, const Document& document, const Json& parameters) {
    uint32_t offset = state.offset(document, parameters["position"]);
    std::optional<ide::SharedName> name = ide::shared_name_at(*document.analysis, offset);
    std::optional<ide::NameUses> found = ide::uses_at(*document.analysis, offset);
    if (!name && !found) {
        return {};
    }
    Json list = Json::array();
    for (const ide::Use& one : name ? ide::uses_of(*document.analysis, *name).uses : found->uses) {
        if (document.holds(one.range.begin)) {
            int kind = one.is_write ? DocumentHighlightKind::kWrite : DocumentHighlightKind::kRead;
            list.add(Json::object({{"range", state.range(document, one.range)}, {"kind", kind}}));
        }
    }
    return list;
}

}  // namespace sardonyx::lsp
