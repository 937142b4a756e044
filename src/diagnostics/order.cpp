#include "diagnostics/order.h"

#include <algorithm>
#include <tuple>

namespace sardonyx::diagnostics {
namespace {

std::tuple<uint64_t, uint32_t, uint32_t> place(const Diagnostic& diagnostic) {
    if (diagnostic.labels.empty() || !diagnostic.labels[0].span.valid()) {
        return {0, 0, 0};
    }
    const Span& span = diagnostic.labels[0].span;
    return {uint64_t{span.file.index} + 1, span.begin, span.end};
}

bool same_label(const Label& a, const Label& b) {
    return a.span == b.span && a.message == b.message;
}

// Kinds are compared by code: a row of a .def may be expanded in more than one place.
bool same(const Diagnostic* a, const Diagnostic* b) {
    return a->kind->code == b->kind->code && a->message == b->message && a->notes == b->notes &&
           a->help == b->help &&
           std::equal(a->labels.begin(), a->labels.end(), b->labels.begin(), b->labels.end(),
                      same_label);
}

}  // namespace

std::vector<const Diagnostic*> in_order(const Diagnostics& diagnostics) {
    std::vector<const Diagnostic*> ordered;
    ordered.reserve(diagnostics.items().size());
    for (const Diagnostic& diagnostic : diagnostics.items()) {
        ordered.push_back(&diagnostic);
    }
    // By text among findings at one place, so that equal ones are neighbours.
    std::stable_sort(ordered.begin(), ordered.end(), [](const Diagnostic* a, const Diagnostic* b) {
        return std::tuple(place(*a), a->kind->code, std::string_view(a->message)) <
               std::tuple(place(*b), b->kind->code, std::string_view(b->message));
    });
    ordered.erase(std::unique(ordered.begin(), ordered.end(), same), ordered.end());
    return ordered;
}

std::string_view severity_name(Severity severity) {
    switch (severity) {
        case Severity::kNote:
            return "note";
        case Severity::kWarning:
            return "warning";
        case Severity::kError:
            return "error";
    }
    return "error";
}

}  // namespace sardonyx::diagnostics
