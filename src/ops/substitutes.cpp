#include "ops/substitutes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "ops/ops.h"

namespace sardonyx::ops {
namespace {

struct Substitute {
    std::string_view name;  // in small letters, without underscores
    std::string_view help;
};

constexpr Substitute kSubstitutes[] = {
#define SDX_SUBSTITUTE(name, help) {name, help},
#include "ops/substitutes.def"
#undef SDX_SUBSTITUTE
};

static_assert(std::is_sorted(std::begin(kSubstitutes), std::end(kSubstitutes),
                             [](const Substitute& a, const Substitute& b) {
                                 return a.name < b.name;
                             }),
              "the rows are in alphabetical order");

std::string plain(std::string_view name) {
    std::string out;
    for (char c : name) {
        if (c != '_') {
            out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
    }
    return out;
}

}  // namespace

std::string_view operator_like(std::string_view name) {
    // ONNX's Max, Mean, Min and Sum are elementwise, of several tensors.
    static constexpr std::pair<std::string_view, std::string_view> kReductions[] = {
        {"max", "ReduceMax"},   {"mean", "ReduceMean"}, {"min", "ReduceMin"},
        {"prod", "ReduceProd"}, {"sum", "ReduceSum"},
    };
    for (const auto& [other, reduction] : kReductions) {
        if (name == other) {
            return reduction;
        }
    }
    std::string wanted = plain(name);
    for (const Schema& schema : schemas()) {
        if (schema.domain.empty() && plain(schema.name) == wanted) {
            return schema.name;
        }
    }
    return {};
}

std::string_view substitute(std::string_view name) {
    std::string wanted = plain(name);
    const auto* found = std::lower_bound(
        std::begin(kSubstitutes), std::end(kSubstitutes), wanted,
        [](const Substitute& row, const std::string& value) { return row.name < value; });
    return found != std::end(kSubstitutes) && found->name == wanted ? found->help
                                                                    : std::string_view();
}

}  // namespace sardonyx::ops
