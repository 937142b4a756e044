// textDocument/prepareCallHierarchy, callHierarchy/incomingCalls and /outgoingCalls: of scripts, in
// the files that are open and those of the roots.
#include <map>
#include <utility>

#include "ide/calls.h"
#include "lsp/protocol.h"
#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

// Of two locations.
Json item(std::string_view name, const Json& whole, const Json& of_name) {
    return Json::object({{"name", name},
                         {"kind", int{SymbolKind::kFunction}},
                         {"uri", of_name["uri"]},
                         {"range", whole["range"]},
                         {"selectionRange", of_name["range"]}});
}

Json item_of(const State& state, const ide::ScriptPlace& script) {
    return item(script.name, state.location(script.path, script.text, script.range),
                state.location(script.path, script.text, script.name_range));
}

}  // namespace

Json prepared_call_hierarchy(const State& state, const Document& document, const Json& parameters) {
    std::optional<ide::ScriptPlace> script =
        ide::script_at(*document.analysis, state.offset(document, parameters["position"]));
    return script ? Json::array({item_of(state, *script)}) : Json();
}

Result<Json> incoming_calls(State& state, const Json& parameters) {
    std::string_view name = parameters["item"]["name"].text();
    std::string path = state.file_of(parameters["item"]["uri"].text());
    Json list = Json::array();
    state.each_file_with(name, [&](const Document& document) {
        std::map<uint32_t, std::pair<ide::Symbol, Json>> callers;  // by the places of their names
        for (const ide::ScriptCall& call : ide::script_calls(*document.analysis)) {
            if (call.callee.name == name && call.callee.path == path &&
                document.holds(call.range.begin)) {
                auto [at, is_new] =
                    callers.try_emplace(call.caller.name_range.begin, call.caller, Json::array());
                at->second.second.add(state.range(document, call.range));
            }
        }
        for (auto& [begin, caller] : callers) {
            Json from = item(caller.first.name, state.location(document, caller.first.range),
                             state.location(document, caller.first.name_range));
            list.add(Json::object(
                {{"from", std::move(from)}, {"fromRanges", std::move(caller.second)}}));
        }
    });
    return list;
}

Result<Json> outgoing_calls(State& state, const Json& parameters) {
    std::string_view name = parameters["item"]["name"].text();
    std::map<std::pair<std::string, uint32_t>, std::pair<Json, Json>> callees;
    state.with_file(parameters["item"]["uri"].text(), [&](const Document& document) {
        for (const ide::ScriptCall& call : ide::script_calls(*document.analysis)) {
            if (call.caller.name == name && document.holds(call.range.begin)) {
                auto [at, is_new] =
                    callees.try_emplace(std::pair(call.callee.path, call.callee.name_range.begin),
                                        Json(), Json::array());
                if (is_new) {
                    at->second.first = item_of(state, call.callee);
                }
                at->second.second.add(state.range(document, call.range));
            }
        }
    });
    Json list = Json::array();
    for (auto& [place, callee] : callees) {
        list.add(Json::object(
            {{"to", std::move(callee.first)}, {"fromRanges", std::move(callee.second)}}));
    }
    return list;
}

}  // namespace sardonyx::lsp
