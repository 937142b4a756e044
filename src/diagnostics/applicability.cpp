#include "diagnostics/applicability.h"

#include <algorithm>
#include <iterator>

namespace sardonyx::diagnostics {
namespace {

// The kinds whose edits follow from the text alone. All others replace a name or a string by one
// that is alike, choose between two types, or move a file to another opset.
constexpr std::string_view kSafe[] = {
    "ambiguous-truth-value",  // `&`, `|` and `~`, which is all that the operators can mean there
    "unused-import",          // nothing reads the name
};

}  // namespace

Applicability applicability_of(const Diagnostic& finding) {
    if (finding.edits.empty()) {
        return Applicability::kDisplay;
    }
    bool is_safe =
        std::find(std::begin(kSafe), std::end(kSafe), finding.kind->code) != std::end(kSafe);
    return is_safe ? Applicability::kSafe : Applicability::kUnsafe;
}

std::string_view name(Applicability applicability) {
    switch (applicability) {
        case Applicability::kDisplay:
            return "display";
        case Applicability::kUnsafe:
            return "unsafe";
        case Applicability::kSafe:
            return "safe";
    }
    return "display";
}

}  // namespace sardonyx::diagnostics
