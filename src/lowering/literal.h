// Python's literals as tensors: numbers, strings, and lists of them in each other. The compiler,
// eager calls and the command line read them here, each by way of a reader of its own values, so
// that a literal is the same tensor, or wrong in the same words, everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/int128.h"
#include "base/result.h"
#include "ir/ir.h"
#include "types/tensor.h"

namespace sardonyx::lowering {

// What a literal consists of, in the order in which kinds absorb each other: [True, 1] is a list of
// ints. kNone: of nothing, as `[]`.
enum class LiteralKind : uint8_t { kNone, kBool, kInt, kFloat, kText };

// The element type that it implies: INT64 where there are no elements, because such a list is a
// shape or a list of axes more often than not.
ElementType implied_type(LiteralKind kind);

// The kind of a list that has elements of both; nothing: text and numbers are no tensor.
std::optional<LiteralKind> joined_kind(LiteralKind a, LiteralKind b);

// Why a literal is no tensor.
struct LiteralProblem {
    std::string message;
    std::string help;
    bool is_lossy = false;  // a number would become another one
    bool is_whole = false;  // the message is about the literal, whose text comes before it

    // In one line, where there is no place for help.
    std::string text() const { return help.empty() ? message : message + ": " + help; }
};

// How lists lie in each other. kRefused: too deep, or the reader's own reason.
enum class ListShape : uint8_t { kTensor, kRowsDifferInLength, kRowsDifferInDepth, kRefused };
constexpr size_t kDeepestList = 32;

LiteralProblem list_problem(ListShape shape);

// The dims of lists in each other, and `leaf(node)` for each element in order, which is false where
// that is none. A reader has
//   bool is_list(node) const;
//   int64_t size(node) const;       // of a list
//   void each(node, visit) const;   // visit(item), until it is false
template <typename Node, typename Reader, typename Leaf>
ListShape walk_lists(const Node& node, const Reader& reader, const Leaf& leaf, Dims& dims,
                     bool& has_leaves, size_t level = 0) {
    if (!reader.is_list(node)) {
        has_leaves = true;
        return level != dims.size() ? ListShape::kRowsDifferInDepth
               : leaf(node)         ? ListShape::kTensor
                                    : ListShape::kRefused;
    }
    int64_t size = reader.size(node);
    if (level == kDeepestList) {
        return ListShape::kRefused;
    }
    if (level == dims.size()) {
        if (has_leaves) {
            return ListShape::kRowsDifferInDepth;
        }
        dims.push_back(size);
    } else if (dims[level] != size) {
        return ListShape::kRowsDifferInLength;
    }
    ListShape shape = ListShape::kTensor;
    reader.each(node, [&](const auto& item) {
        shape = walk_lists(item, reader, leaf, dims, has_leaves, level + 1);
        return shape == ListShape::kTensor;
    });
    return shape;
}

template <typename Node, typename Reader, typename Leaf>
ListShape walk_lists(const Node& node, const Reader& reader, const Leaf& leaf, Dims& dims) {
    bool has_leaves = false;
    return walk_lists(node, reader, leaf, dims, has_leaves);
}

// A list without elements, however deep: `[]`, `[[], []]`. Takes a reader as above.
template <typename Node, typename Reader>
bool is_empty_list(const Node& node, const Reader& reader, size_t level = 0) {
    if (!reader.is_list(node) || level > kDeepestList) {
        return false;
    }
    bool is_empty = true;
    reader.each(node, [&](const auto& item) {
        is_empty = is_empty_list(item, reader, level + 1);
        return is_empty;
    });
    return is_empty;
}

// The kind that can hold all elements; kNone: there are none, or some that are no literals. A
// reader has beside the above
//   LiteralKind kind(node) const;   // of what is no list
template <typename Node, typename Reader>
LiteralKind common_kind(const Node& node, const Reader& reader, size_t level = 0) {
    if (!reader.is_list(node) || level > kDeepestList) {
        return reader.kind(node);
    }
    LiteralKind kind = LiteralKind::kNone;
    reader.each(node, [&](const auto& item) {
        LiteralKind one = common_kind(item, reader, level + 1);
        std::optional<LiteralKind> both = joined_kind(kind, one);
        bool is_other = !both || (one == LiteralKind::kNone && !is_empty_list(item, reader));
        kind = is_other ? LiteralKind::kNone : *both;
        return !is_other;
    });
    return kind;
}

// The elements of a literal, in order.
class Literal {
  public:
    struct Number {
        Int128 integer = 0;  // of what is no float
        double real = 0;
        bool is_float = false;
    };

    void add_bool(bool value) { add({value ? 1 : 0, value ? 1.0 : 0.0}, LiteralKind::kBool); }
    void add_int(Int128 value) { add({value, static_cast<double>(value)}, LiteralKind::kInt); }
    void add_float(double value) { add({0, value, true}, LiteralKind::kFloat); }
    void add_text(std::string text) { texts_.push_back(std::move(text)); }

    Dims dims;

    const std::vector<Number>& numbers() const { return numbers_; }
    // Nothing: text and numbers.
    std::optional<LiteralKind> kind() const {
        return joined_kind(number_kind_, texts_.empty() ? LiteralKind::kNone : LiteralKind::kText);
    }
    // The tensor; `type` kUndefined: the type that it implies. `repr`: the literal's text, for
    // messages. Nothing, and a problem: it has none.
    template <typename Repr>
    std::optional<Tensor> tensor(ElementType type, const Repr& repr,
                                 LiteralProblem& problem) const {
        std::optional<Tensor> made = make(type, problem);
        if (!made && problem.is_whole) {
            problem.message = "`" + repr() + "` " + problem.message;
        }
        return made;
    }

  private:
    void add(Number number, LiteralKind kind) {
        numbers_.push_back(number);
        number_kind_ = number_kind_ < kind ? kind : number_kind_;
    }
    std::optional<Tensor> make(ElementType type, LiteralProblem& problem) const;
    Result<Tensor> of_numbers(ElementType type) const;

    LiteralKind number_kind_ = LiteralKind::kNone;
    std::vector<Number> numbers_;
    std::vector<std::string> texts_;
};

// Reads a literal. Nothing, and a problem: its lists are no tensor. A reader has beside the above
//   bool add(node, Literal&) const;   // false: it is no element of a literal
template <typename Node, typename Reader>
std::optional<Literal> read_literal(const Node& node, Reader& reader, LiteralProblem& problem) {
    Literal literal;
    auto leaf = [&](const auto& one) { return reader.add(one, literal); };
    ListShape shape = walk_lists(node, reader, leaf, literal.dims);
    if (shape != ListShape::kTensor) {
        problem = list_problem(shape);
        return std::nullopt;
    }
    return literal;
}

// An element of a list of tensors and numbers, or several of them as one vector.
template <typename Value>
struct MixedPart {
    Value value;
    size_t count = 0;  // of elements that it is; 0: one, as it is
};

// A list of tensors and numbers as one tensor: scalars side by side, in the shape of the lists, or
// rows on top of each other. A vector of one element is a scalar, so vectors are rows only where
// one of them surely has another size.
template <typename E>
typename E::Value lower_mixed_list(E& e, const Dims& dims,
                                   const std::vector<MixedPart<typename E::Value>>& parts) {
    using Value = typename E::Value;
    size_t rows = 0, elements = 0;
    bool is_surely_of_rows = false;
    std::vector<Value> lined_up;
    for (const MixedPart<Value>& part : parts) {
        int rank = part.count == 0 ? e.rank(part.value) : 0;
        bool is_row = rank > 1 || (rank == 1 && e.dim(part.value, 0) != 1);
        rows += is_row ? 1 : 0;
        is_surely_of_rows = is_surely_of_rows || rank > 1 || (is_row && e.dim(part.value, 0) >= 0);
        elements += part.count == 0 ? 1 : part.count;
        lined_up.push_back(part.count != 0 ? part.value
                           : is_row        ? e.emit("Unsqueeze", {part.value, e.int64s({0})})
                                           : e.emit("Reshape", {part.value, e.int64s({1})}));
    }
    if (rows != 0 && rows != elements) {
        return e.fail("a list of tensors with axes and of scalars where a tensor is needed",
                      "give all items one shape, or make a sequence with `op.SequenceConstruct`");
    }
    if (rows != 0 && dims.size() > 1) {
        return e.fail("nested lists of tensors with axes",
                      "stack the inner lists first, with `op.Concat`");
    }
    if (rows != 0 && !is_surely_of_rows) {
        return e.fail(
            "a list of vectors whose size is not known where a tensor is needed: a vector "
            "of size 1 is one element of the list, others are rows",
            "stack rows with `op.Concat(op.Unsqueeze(x, [0]), ..., axis=0)`, and join "
            "elements with `op.Concat(x, ..., axis=0)`");
    }
    Value all = lined_up.size() == 1
                    ? lined_up[0]
                    : e.emit_variadic("Concat", lined_up, {ir::make_attribute("axis", int64_t{0})});
    return dims.size() < 2 ? all : e.emit("Reshape", {all, e.int64s({dims.begin(), dims.end()})});
}

}  // namespace sardonyx::lowering
