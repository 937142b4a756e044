#include "ops/substitutes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ops/ops.h"
#include "ops/substitute_table.h"

namespace sardonyx::ops {
namespace {

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
    std::span<const Substitute> all = substitutes();
    auto found = std::lower_bound(
        all.begin(), all.end(), wanted,
        [](const Substitute& row, const std::string& value) { return row.name < value; });
    return found != all.end() && found->name == wanted ? found->text : std::string_view();
}

std::string help_for_function(std::string_view name) {
    constexpr std::string_view kCall = "scripts call operators: ";
    if (std::string_view like = operator_like(name); !like.empty()) {
        return std::string(kCall) + "`op." + std::string(like) + "(...)`";
    }
    std::string_view words = substitute(name);
    return words.empty() ? std::string() : std::string(kCall) + std::string(words);
}

}  // namespace sardonyx::ops
