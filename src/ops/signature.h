// How a schema reads as a Python signature: for `repr(op.Conv)`, hovers and signature help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/ops.h"

namespace sardonyx::ops {

struct ShownParameter {
    std::string text;  // "B=None", "*inputs", "axis=-1"; "*" alone stands before the attributes
    std::string_view name;  // empty for "*"
    std::string_view doc;
    bool is_attribute = false;
    bool is_variadic = false;
    bool is_required = false;  // of an input: nothing before it can be left out either
};
std::vector<ShownParameter> shown_parameters(const Schema& schema);

// "TopK(X, K, *, axis=-1, largest=1, sorted=1)".
std::string shown_signature(const Schema& schema);

}  // namespace sardonyx::ops
