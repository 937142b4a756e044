// Sequences and optionals.
#include <algorithm>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/movement.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

using SequencePointer = std::shared_ptr<const Sequence>;

enum class PositionOf : uint8_t { kElement, kElementOrEnd };

// The position that input `i` names among `count`; `count` where it is left out.
Result<size_t> position(const KernelContext& c, size_t i, size_t count, PositionOf what) {
    if (!c.has_input(i)) {
        return count;
    }
    SDX_ASSIGN(int64_t index, c.int_scalar(i));
    int64_t n = static_cast<int64_t>(count);
    if (index < -n || index >= n + (what == PositionOf::kElementOrEnd ? 1 : 0)) {
        return Error{fmt::format("position {} is out of range for a sequence of {}", index, count)};
    }
    return static_cast<size_t>(index < 0 ? index + n : index);
}

Status check_element(const Sequence& sequence, const RuntimeValue& item) {
    ElementType type = item.is_tensor() ? item.tensor().element_type() : ElementType::kUndefined;
    if (sequence.element_type != ElementType::kUndefined && type != sequence.element_type) {
        return Error{fmt::format("a {} does not go into a sequence of {}", item.describe(),
                                 name(sequence.element_type))};
    }
    return {};
}

// The sizes of the parts of SplitToSequence, and whether the axis stays.
Result<std::vector<int64_t>> part_sizes(const KernelContext& c, int64_t n) {
    // Beside an axis of 0 this one may be huge.
    SDX_TRY(check_size(ElementType::kString, std::span<const int64_t>(&n, 1), c.options()));
    if (!c.has_input(1)) {
        return std::vector<int64_t>(n, 1);
    }
    if (c.rank(1) == 0) {
        // One size for all parts but the last, which is what is left.
        SDX_ASSIGN(int64_t size, c.int_scalar(1));
        if (size < 1) {
            return Error{fmt::format("the split size {} is not positive", size)};
        }
        std::vector<int64_t> sizes;
        for (int64_t left = n; left > 0; left -= size) {
            sizes.push_back(std::min(size, left));
            if (left < size) {
                break;
            }
        }
        return sizes;
    }
    SDX_ASSIGN(std::vector<int64_t> sizes, c.ints(1));
    int64_t total = 0;
    for (int64_t size : sizes) {
        if (size < 0 || __builtin_add_overflow(total, size, &total)) {
            return Error{fmt::format("split sizes {} are not valid", to_string(sizes))};
        }
    }
    if (total != n) {
        return Error{fmt::format("split sizes {} do not add up to {}", to_string(sizes), n)};
    }
    return sizes;
}

}  // namespace

Status sequence_empty(KernelContext& c) {
    auto sequence = std::make_shared<Sequence>();
    sequence->element_type = element_type_from_number(
        c.int_attribute("dtype", static_cast<int64_t>(ElementType::kFloat)));
    c.set_output(0, SequencePointer(std::move(sequence)));
    return {};
}

Status sequence_construct(KernelContext& c) {
    auto sequence = std::make_shared<Sequence>();
    sequence->element_type = c.type(0);
    for (size_t i = 0; i < c.input_count(); ++i) {
        sequence->items.push_back(c.value(i));
    }
    c.set_output(0, SequencePointer(std::move(sequence)));
    return {};
}

Status sequence_at(KernelContext& c) {
    const Sequence& sequence = c.value(0).sequence();
    SDX_ASSIGN(size_t at, position(c, 1, sequence.items.size(), PositionOf::kElement));
    c.set_output(0, sequence.items[at]);
    return {};
}

Status sequence_insert(KernelContext& c) {
    const Sequence& given = c.value(0).sequence();
    SDX_TRY(check_element(given, c.value(1)));
    SDX_ASSIGN(size_t at, position(c, 2, given.items.size(), PositionOf::kElementOrEnd));
    std::shared_ptr<Sequence> sequence = c.changeable_sequence(0);
    sequence->element_type = c.type(1);
    sequence->items.insert(sequence->items.begin() + at, c.value(1));
    c.set_output(0, SequencePointer(std::move(sequence)));
    return {};
}

Status sequence_erase(KernelContext& c) {
    size_t size = c.value(0).sequence().items.size();
    if (size == 0) {
        return Error{"the sequence is empty"};
    }
    SDX_ASSIGN(size_t at, position(c, 1, size, PositionOf::kElement));
    at = std::min(at, size - 1);  // left out: the last
    std::shared_ptr<Sequence> sequence = c.changeable_sequence(0);
    sequence->items.erase(sequence->items.begin() + at);
    c.set_output(0, SequencePointer(std::move(sequence)));
    return {};
}

Status sequence_length(KernelContext& c) {
    c.set_output(0, Tensor::scalar(static_cast<int64_t>(c.value(0).sequence().items.size())));
    return {};
}

Status split_to_sequence(KernelContext& c) {
    const Tensor& source = c.tensor(0);
    if (is_packed(source.element_type())) {
        return Error{fmt::format("{} cannot be split", c.value(0).describe())};
    }
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), source.rank()));
    SDX_ASSIGN(std::vector<int64_t> sizes, part_sizes(c, source.dims()[axis]));
    bool drops_axis = !c.has_input(1) && c.int_attribute("keepdims") == 0;
    auto sequence = std::make_shared<Sequence>();
    sequence->element_type = source.element_type();
    int64_t start = 0;
    for (int64_t size : sizes) {
        SDX_TRY(check_interrupt(c.options()));
        SDX_ASSIGN(Tensor part, part_of_axis(c, source, axis, start, size));
        if (drops_axis) {
            Dims dims = part.dims();
            dims.erase(dims.begin() + axis);
            part = part.reshaped(std::move(dims));
        }
        sequence->items.emplace_back(std::move(part));
        start += size;
    }
    c.set_output(0, SequencePointer(std::move(sequence)));
    return {};
}

Status concat_from_sequence(KernelContext& c) {
    const Sequence& sequence = c.value(0).sequence();
    if (sequence.items.empty() || is_packed(sequence.element_type)) {
        return Error{"there must be at least one tensor to concatenate"};
    }
    int64_t axis = c.int_attribute("axis");
    bool is_new = c.int_attribute("new_axis") != 0;
    std::vector<Tensor> parts;
    for (const RuntimeValue& item : sequence.items) {
        if (!item.is_tensor()) {
            return Error{"the elements of the sequence must be tensors"};
        }
        Tensor part = item.tensor();
        if (is_new) {
            SDX_ASSIGN(int at, c.axis(axis, part.rank() + 1));
            Dims dims = part.dims();
            dims.insert(dims.begin() + at, 1);
            part = part.reshaped(std::move(dims));
        }
        parts.push_back(std::move(part));
    }
    SDX_ASSIGN(Tensor out, eval::concat(c, parts, axis));
    c.set_output(0, std::move(out));
    return {};
}

Status optional(KernelContext& c) {
    c.set_output(0, c.value(0));
    return {};
}

Status optional_has_element(KernelContext& c) {
    c.set_output(0, Tensor::scalar(c.has_input(0)));
    return {};
}

Status optional_get_element(KernelContext& c) {
    if (!c.has_input(0)) {
        return Error{"the optional has no element"};
    }
    c.set_output(0, c.value(0));
    return {};
}

}  // namespace sardonyx::eval::kernels
