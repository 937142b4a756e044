// textDocument/semanticTokens/full and /range.
#include <cstdint>

#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

struct RoleRow {
    ide::NameRole role;
    const char* name;  // of LSP's list
};
// The number of a role in the protocol is its place here.
constexpr RoleRow kRoles[] = {
    {ide::NameRole::kNamespace, "namespace"},         {ide::NameRole::kType, "type"},
    {ide::NameRole::kFunction, "function"},           {ide::NameRole::kMethod, "method"},
    {ide::NameRole::kParameter, "parameter"},         {ide::NameRole::kVariable, "variable"},
    {ide::NameRole::kProperty, "property"},           {ide::NameRole::kEnumMember, "enumMember"},
    {ide::NameRole::kTypeParameter, "typeParameter"},
};
constexpr int kDeclaration = 1, kDeprecated = 2;  // bits of the modifiers

int number_of(ide::NameRole role) {
    int number = 0;
    while (kRoles[number].role != role) {
        ++number;
    }
    return number;
}

Json encoded(const State& state, const Document& document, uint32_t begin, uint32_t end) {
    Json data = Json::array();
    int64_t line = 0, character = 0;
    for (const ide::NameToken& one : ide::name_tokens(*document.analysis)) {
        bool is_wanted = begin < one.range.end && one.range.begin < end;
        if (!is_wanted || !document.holds(one.range.begin)) {
            continue;
        }
        Json from = state.place(document, one.range.begin);
        Json to = state.place(document, one.range.end);
        int64_t at = from["line"].integer(), column = from["character"].integer();
        if (to["line"].integer() != at) {
            continue;  // clients may take tokens of one line alone
        }
        data.add(at - line);
        data.add(at == line ? column - character : column);
        data.add(to["character"].integer() - column);
        data.add(number_of(one.role));
        data.add((one.is_declaration ? kDeclaration : 0) | (one.is_deprecated ? kDeprecated : 0));
        line = at;
        character = column;
    }
    return Json::object({{"data", std::move(data)}});
}

}  // namespace

Json semantic_tokens_legend() {
    Json types = Json::array();
    for (const RoleRow& row : kRoles) {
        types.add(row.name);
    }
    return Json::object({{"tokenTypes", std::move(types)},
                         {"tokenModifiers", Json::array({"declaration", "deprecated"})}});
}

Json semantic_tokens(const State& state, const Document& document, const Json&) {
    return encoded(state, document, 0, UINT32_MAX);
}

Json semantic_tokens_of_range(const State& state, const Document& document,
                              const Json& parameters) {
    return encoded(state, document, state.offset(document, parameters["range"]["start"]),
                   state.offset(document, parameters["range"]["end"]));
}

}  // namespace sardonyx::lsp
