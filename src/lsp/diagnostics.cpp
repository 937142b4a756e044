// textDocument/publishDiagnostics, textDocument/diagnostic.
#include <fmt/format.h>

#include "lsp/protocol.h"
#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

int severity_number(ide::Level level) {
    switch (level) {
        case ide::Level::kError:
            return DiagnosticSeverity::kError;
        case ide::Level::kWarning:
            return DiagnosticSeverity::kWarning;
        case ide::Level::kNote:
            break;
    }
    return DiagnosticSeverity::kInformation;
}

// The places that a finding disagrees with, as far as they are in this file or notebook.
Json related_places(const State& state, const Document& document, const ide::Finding& finding) {
    Json places = Json::array();
    for (const ide::Related& one : finding.related) {
        if (one.path == document.path) {
            places.add(Json::object(
                {{"location", state.location(document, one.range)}, {"message", one.message}}));
        }
    }
    return places;
}

}  // namespace

Json diagnostics_of(const State& state, const Document& document) {
    Json list = Json::array();
    for (const ide::Finding& finding : document.analysis->findings()) {
        if (!document.holds(finding.range.begin)) {
            continue;
        }
        Json one = Json::object({{"range", state.range(document, finding.range)},
                                 {"severity", severity_number(finding.level)},
                                 {"code", finding.code},
                                 {"source", "sardonyx"},
                                 {"message", finding.message}});
        Json related = related_places(state, document, finding);
        if (!related.items().empty()) {
            one.set("relatedInformation", std::move(related));
        }
        list.add(std::move(one));
    }
    return list;
}

Json diagnostics_report(const State& state, const Document& document, const Json&) {
    return Json::object({{"kind", "full"}, {"items", diagnostics_of(state, document)}});
}

}  // namespace sardonyx::lsp
