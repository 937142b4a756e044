// Static objects as tensors: numbers, strings, nested lists, arrays; and lists that have values of
// the graph among their items.
#include "elaborate/emit/static_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/constants.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/object_lists.h"
#include "infer/infer.h"
#include "lowering/literal.h"
#include "ops/ops.h"

namespace sardonyx::elaborate {

namespace {

struct ObjectReader : ObjectLists {
    int64_t left;  // elements, at most
    bool has_other = false;

    bool add(const Object& leaf, lowering::Literal& literal) {
        switch (leaf.kind()) {
            case ObjectKind::kBool:
                literal.add_bool(leaf.as_bool());
                break;
            case ObjectKind::kInt:
            case ObjectKind::kWideInt:
                literal.add_int(leaf.as_whole());
                break;
            case ObjectKind::kFloat:
                literal.add_float(leaf.as_double());
                break;
            case ObjectKind::kElementType:
                literal.add_int(Int128{static_cast<int>(leaf.as_element_type())});
                break;
            case ObjectKind::kString:
            case ObjectKind::kBytes:
                literal.add_text(leaf.text());
                break;
            default:
                has_other = true;
                return false;
        }
        return --left >= 0;
    }
};

void report_problem(Context& c, syntax::Range range, lowering::LiteralProblem problem) {
    c.report(problem.is_lossy ? kLossyLiteral : kUnsupportedOperand, range,
             std::move(problem.message))
        .with_help(std::move(problem.help));
}

// Numbers that become others: an infinity, zero, another integer. That fractions are rounded is
// true of every type, and not said.
void warn_of_loss(Context& c, const std::vector<lowering::Literal::Number>& numbers,
                  const Tensor& tensor, syntax::Range range) {
    if (!is_floating(tensor.element_type())) {
        return;  // integers that do not fit are refused
    }
    std::optional<std::vector<double>> got = to_doubles(tensor);
    for (size_t i = 0; got && i < numbers.size(); ++i) {
        double given = numbers[i].real;
        double made = (*got)[i];
        bool is_lost = (std::isinf(made) && !std::isinf(given)) || (made == 0 && given != 0) ||
                       (!numbers[i].is_float && made != given);
        if (is_lost) {
            Object number =
                numbers[i].is_float ? Object::real(given) : Object::whole(numbers[i].integer);
            c.report(kLossyCast, range,
                     fmt::format("`{}` becomes `{}` as {}", repr(number), made,
                                 name(tensor.element_type())))
                .with_help("write the number that is meant, or cast the tensor to a wider type");
            return;
        }
    }
}

}  // namespace

std::optional<Tensor> static_tensor(Context& c, const Object& object, ElementType type,
                                    syntax::Range range) {
    if (object.is(ObjectKind::kConstant)) {
        return object.get<Tensor>();
    }
    ObjectReader reader{{}, c.options.limits.text_bytes};
    lowering::LiteralProblem problem;
    std::optional<lowering::Literal> literal = lowering::read_literal(object, reader, problem);
    if (reader.has_other) {
        c.report(kUnsupportedOperand, range,
                 fmt::format("{} where a tensor is needed", kind_name(object)))
            .with_help(object.is(ObjectKind::kOperator)
                           ? fmt::format("call it: `op.{}(...)`", object.get<OperatorObject>().name)
                           : "give a tensor, a number, a string, or a list of numbers");
        return std::nullopt;
    }
    std::optional<Tensor> tensor = literal ? literal->tensor(
                                                 type, [&object] { return repr(object); }, problem)
                                           : std::nullopt;
    if (!tensor) {
        report_problem(c, range, std::move(problem));
        return std::nullopt;
    }
    warn_of_loss(c, literal->numbers(), *tensor, range);
    return tensor;
}

namespace {

using MixedParts = std::vector<lowering::MixedPart<ir::Value*>>;

// The leaves of nested lists, some of them tensors, as parts of one: numbers that stand side by
// side are one constant. Empty after a diagnostic.
MixedParts mixed_parts(Context& c, const std::vector<Object>& leaves, syntax::Range range,
                       ElementType type, ir::Value* like) {
    MixedParts parts;
    std::vector<Object> numbers;
    auto put_numbers = [&] {
        if (!numbers.empty()) {
            size_t count = numbers.size();
            ir::Value* value = as_value(c, Object::list(std::move(numbers)), range, type, like);
            parts.push_back({value, count});
            numbers.clear();
        }
        return parts.empty() || parts.back().value != nullptr;
    };
    for (size_t i = 0, count = 1; i < leaves.size(); i += count) {
        const Object& leaf = leaves[i];
        count = 1;
        ir::Value* sizes =
            type == ElementType::kInt64 ? joined_sizes(c, leaves, i, count, range) : nullptr;
        if (sizes == nullptr && !leaf.is_tensor_like()) {
            numbers.push_back(leaf);
            continue;
        }
        ir::Value* value = !put_numbers()     ? nullptr
                           : sizes != nullptr ? sizes
                           : leaf.is_tensor() ? as_typed_value(c, leaf, type, range)
                                              : as_value(c, leaf, range, type, like);
        if (value == nullptr) {
            return {};
        }
        parts.push_back({value, sizes != nullptr ? count : 0});
    }
    return put_numbers() ? parts : MixedParts();
}

// The list where each leaf is a number or an array of one element of the type; nothing for another.
std::optional<std::vector<Object>> as_numbers(const std::vector<Object>& leaves, ElementType type) {
    std::vector<Object> numbers;
    for (const Object& leaf : leaves) {
        bool is_array = leaf.is(ObjectKind::kConstant) && has_arithmetic(type) &&
                        leaf.get<Tensor>().element_type() == type &&
                        leaf.get<Tensor>().count() == 1;
        if (!is_array && !leaf.is_number()) {
            return std::nullopt;
        }
        numbers.push_back(is_array ? element_of(leaf.get<Tensor>(), 0) : leaf);
    }
    return numbers;
}

}  // namespace

ir::Value* mixed_list(Context& c, const Object& object, syntax::Range range, ElementType type,
                      ir::Value* like) {
    std::vector<Object> leaves;
    Dims dims;
    auto leaf = [&](const Object& one) {
        leaves.push_back(beside_tensors(one));
        return static_cast<int64_t>(leaves.size()) <= c.options.limits.text_bytes;
    };
    lowering::ListShape shape = lowering::walk_lists(object, ObjectLists(), leaf, dims);
    if (shape != lowering::ListShape::kTensor) {
        report_problem(c, range, lowering::list_problem(shape));
        return nullptr;
    }
    bool any_float = false, any_either = false, surely_float = false;
    for (const Object& leaf : leaves) {
        bool is_float = is_python_number(leaf) && is_floating(number_type(leaf));
        any_float = any_float || is_float;
        any_either = any_either || leaf.is_either();
        surely_float = surely_float || (is_float && !leaf.is_either());
        if (type == ElementType::kUndefined && leaf.is_tensor() && !leaf.is_number_tensor()) {
            type = leaf.value()->type.element_type();
            like = like == nullptr ? leaf.value() : like;
        }
        if (type == ElementType::kUndefined && leaf.is(ObjectKind::kConstant)) {
            type = leaf.get<Tensor>().element_type();
        }
    }
    // Python's numbers alone: as literals.
    if (type == ElementType::kUndefined && like == nullptr) {
        if (any_either && !surely_float) {
            report_either(c, range);
            return nullptr;
        }
        type = any_float ? ElementType::kFloat : ElementType::kInt64;
    }
    if (std::optional<std::vector<Object>> numbers = as_numbers(leaves, type)) {
        std::optional<Tensor> tensor =
            static_tensor(c, Object::list(std::move(*numbers)), type, range);
        return tensor ? shared_constant(c, tensor->reshaped(dims), range) : nullptr;
    }
    MixedParts parts = mixed_parts(c, leaves, range, type, like);
    if (parts.empty()) {
        return nullptr;
    }
    Emitter e(c, range);
    return lowering::lower_mixed_list(e, dims, parts);
}

namespace {

// Whether `is_it` is true of what lies in lists in lists, as far as it is looked at.
template <typename Predicate>
bool any_leaf(const Object& object, ListWalk& walk, const Predicate& is_it) {
    if (!object.is_sequence()) {
        return is_it(object);
    }
    if (walk.depth == 0 || --walk.items < 0) {
        return false;
    }
    --walk.depth;
    bool found = std::any_of(object.items().begin(), object.items().end(), [&](const Object& item) {
        return --walk.items >= 0 && any_leaf(item, walk, is_it);
    });
    ++walk.depth;
    return found;
}

}  // namespace

bool has_array(const Object& list) {
    ListWalk walk;
    return any_leaf(list, walk, [](const Object& leaf) {
        return leaf.is(ObjectKind::kConstant) || is_numpys_int(leaf);
    });
}

bool has_float(const Object& object) {
    ListWalk walk;
    return any_leaf(object, walk, [](const Object& leaf) { return leaf.is(ObjectKind::kFloat); });
}

}  // namespace sardonyx::elaborate
