// Fourier transforms, windows and mel weights.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// The bins of a one-sided transform of `length` points.
Dim one_sided(const Dim& length) {
    return floor_div(length, 2) + 1;
}

// 1: real, 2: complex; both sides of the last axis of a signal.
void check_components(NodeContext& c, size_t input) {
    Dim components = input_dim(c, input, -1);
    if (components.is_static() && components.value() != 1 && components.value() != 2) {
        c.fail(kShapeMismatch,
               fmt::format("the last axis of {} is {}, and must be 1 (real) or 2 (complex)",
                           c.input_name(input), components.value()),
               static_cast<int>(input), -1, "add an axis of size 1 at the end of a real signal");
    }
}

// The axis of DFT: an attribute in version 17 (default 1), an input since 20 (default -2). Nothing
// when not known.
std::optional<int> dft_axis(NodeContext& c, int rank) {
    std::optional<int64_t> axis;
    int input = -1;
    if (c.version() < 20) {
        axis = c.attribute_int("axis");
    } else if (!c.has_input(2)) {
        axis = -2;
    } else {
        check_scalar(c, 2);
        Dim value = input_scalar(c, 2);
        axis = value.is_static() ? std::optional(value.value()) : std::nullopt;
        input = 2;
    }
    if (!axis.has_value()) {
        return std::nullopt;
    }
    std::optional<int> normalized = c.normalize_axis(*axis, rank, "axis", input);
    if (normalized == rank - 1) {
        std::string message = fmt::format(
            "axis {} of `DFT` is the last, which holds real and imaginary parts", *axis);
        if (input >= 0) {
            c.fail(kAxisOutOfRange, std::move(message), input);
        } else {
            c.fail_attribute(kAxisOutOfRange, "axis", std::move(message));
        }
        return std::nullopt;
    }
    return normalized;
}

// The size of the output along the transformed axis.
Dim dft_size(NodeContext& c, const Dim& size, bool is_inverse, bool is_one_sided) {
    Dim length = size;
    if (c.has_input(1)) {
        length = scalar_at_least(c, 1, 1);
    } else if (is_inverse && is_one_sided) {
        length = Dim(2) * (size - 1);
    }
    return is_one_sided && !is_inverse ? one_sided(length) : length;
}

// frame_length, else the window's length, else the signal's.
Dim stft_frame_length(NodeContext& c) {
    Dim window = c.input_rank(2) == 1 ? input_dim(c, 2, 0) : Dim();
    if (!c.has_input(3)) {
        return c.has_input(2) ? window : input_dim(c, 0, 1);
    }
    Dim length = scalar_at_least(c, 3, 1);
    if (c.input_rank(2) == 1) {
        return expect_dim(c, {2, 0}, length, "`frame_length`");
    }
    return length;
}

Dim stft_frames(NodeContext& c, const Dim& signal, const Dim& length) {
    Dim step = scalar_at_least(c, 1, 1);
    Dim room = signal - length;
    if (room.is_static() && room.value() < 0) {
        c.fail(kInvalidValue,
               fmt::format("a frame of `STFT` has {} samples, and the signal has {}",
                           length.to_string(), signal.to_string()),
               0, c.has_input(3) ? 3 : 2);
        return {};
    }
    if (room.is_static() && room.value() == 0) {
        return 1;
    }
    return floor_div(room, step) + 1;
}

}  // namespace

void infer_dft(NodeContext& c) {
    const Shape* input = shape_of_rank(c, 0, 2, INT_MAX, "(signal..., 1 or 2)");
    c.check_rank(1, 0);
    if (input == nullptr || c.is_attribute_unbound("inverse") ||
        c.is_attribute_unbound("onesided")) {
        c.set_output_shape(0,
                           input != nullptr ? std::optional(Shape(input->size())) : std::nullopt);
        return;
    }
    bool is_inverse = flag(c, "inverse");
    bool is_one_sided = flag(c, "onesided");
    if (is_one_sided) {
        expect_dim(c, {0, -1}, is_inverse ? 2 : 1,
                   is_inverse ? "the inverse of a one-sided transform takes complex input"
                              : "a one-sided transform takes real input");
    } else {
        check_components(c, 0);
    }
    std::optional<int> axis = dft_axis(c, static_cast<int>(input->size()));
    Shape shape = *input;
    if (axis.has_value()) {
        shape[*axis] = dft_size(c, shape[*axis], is_inverse, is_one_sided);
    } else if (c.has_input(1) || is_one_sided) {
        shape.assign(shape.size(), Dim());
    }
    shape.back() = is_inverse && is_one_sided ? 1 : 2;
    c.set_output_shape(0, std::move(shape));
}

void infer_stft(NodeContext& c) {
    const Shape* signal = shape_of_rank(c, 0, 3, "(batch, samples, 1 or 2)");
    if (signal != nullptr) {
        check_components(c, 0);
    }
    c.check_rank(1, 0);
    shape_of_rank(c, 2, 1, "(frame length)");
    c.check_rank(3, 0);
    Dim length = stft_frame_length(c);
    Dim bins = c.is_attribute_unbound("onesided") ? Dim()
               : flag(c, "onesided")              ? one_sided(length)
                                                  : length;
    c.set_output_shape(
        0, Shape{dim_at(signal, 0), stft_frames(c, dim_at(signal, 1), length), bins, 2});
}

// BlackmanWindow, HammingWindow, HannWindow.
void infer_window(NodeContext& c) {
    c.check_rank(0, 0);
    c.set_output(0, element_from_attribute(c, "output_datatype", ElementType::kFloat),
                 Shape{scalar_at_least(c, 0, 0)});
}

void infer_mel_weight_matrix(NodeContext& c) {
    for (size_t input = 0; input < 5; ++input) {
        check_scalar(c, input);
    }
    c.set_output(0, element_from_attribute(c, "output_datatype", ElementType::kFloat),
                 Shape{one_sided(scalar_at_least(c, 1, 1)), scalar_at_least(c, 0, 1)});
}

}  // namespace sardonyx::infer
