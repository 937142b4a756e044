// The one list of special methods, for the compiler and for the Python package.
#include "elaborate/objects/special_names.h"

#include <algorithm>
#include <iterator>

namespace sardonyx::elaborate {

namespace {

// In the order of lowering::Binary.
constexpr MethodNames kBinary[] = {
    {"+", "__add__", "__radd__"},
    {"-", "__sub__", "__rsub__"},
    {"*", "__mul__", "__rmul__"},
    {"@", "__matmul__", "__rmatmul__"},
    {"/", "__truediv__", "__rtruediv__"},
    {"%", "__mod__", "__rmod__"},
    {"**", "__pow__", "__rpow__"},
    {"<<", "__lshift__", "__rlshift__"},
    {">>", "__rshift__", "__rrshift__"},
    {"|", "__or__", "__ror__"},
    {"^", "__xor__", "__rxor__"},
    {"&", "__and__", "__rand__"},
    {"//", "__floordiv__", "__rfloordiv__"},
};
static_assert(std::size(kBinary) == std::size(lowering::kBinarySymbols));

// In the order of CompareOp.
constexpr MethodNames kCompare[] = {
    {"==", "__eq__", "__eq__", true}, {"!=", "__ne__", "__ne__", true},
    {"<", "__lt__", "__gt__", true},  {"<=", "__le__", "__ge__", true},
    {">", "__gt__", "__lt__", true},  {">=", "__ge__", "__le__", true},
};

struct UnaryRow {
    syntax::UnaryOp op;
    std::string_view name;
};

constexpr UnaryRow kUnary[] = {
    {syntax::UnaryOp::kMinus, "__neg__"},
    {syntax::UnaryOp::kPlus, "__pos__"},
    {syntax::UnaryOp::kInvert, "__invert__"},
};

constexpr std::string_view kOthers[] = {"__repr__", "__str__",      "__hash__",
                                        "__bool__", "__contains__", "__iter__"};

}  // namespace

const MethodNames& binary_names(lowering::Binary op) {
    return kBinary[static_cast<size_t>(op)];
}

const MethodNames& compare_names(syntax::CompareOp op) {
    return kCompare[static_cast<size_t>(op)];
}

std::string_view unary_name(syntax::UnaryOp op) {
    const auto* row = std::find_if(std::begin(kUnary), std::end(kUnary),
                                   [op](const UnaryRow& one) { return one.op == op; });
    return row != std::end(kUnary) ? row->name : std::string_view();
}

std::vector<std::string_view> special_methods() {
    std::vector<std::string_view> all(std::begin(kOthers), std::end(kOthers));
    for (const UnaryRow& row : kUnary) {
        all.push_back(row.name);
    }
    for (const MethodNames& row : kBinary) {
        all.insert(all.end(), {row.left, row.right});
    }
    for (const MethodNames& row : kCompare) {
        all.push_back(row.left);
    }
    return all;
}

bool is_special_method(std::string_view name) {
    const std::vector<std::string_view> all = special_methods();
    return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace sardonyx::elaborate
