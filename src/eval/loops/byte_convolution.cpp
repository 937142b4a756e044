#include <algorithm>

#include "eval/loops/clones.h"
#include "eval/loops/convolution.h"
#include "eval/loops/flat_windows.h"
#include "eval/loops/scratch.h"
#include "eval/runtime/parallel.h"

namespace sardonyx::eval {
namespace {

constexpr int32_t kSignOffset = 128;  // between the codes of int8 and those of uint8

SDX_CLONES void move_sign(const uint8_t* in, uint8_t* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = in[i] ^ uint8_t { kSignOffset };
    }
}

SDX_CLONES void add_bytes(const uint8_t* in, uint32_t* sums, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        sums[i] += in[i];
    }
}

SDX_CLONES uint32_t sum_of_bytes(const uint8_t* in, int64_t n) {
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        sum += in[i];
    }
    return sum;
}

SDX_CLONES void subtract_scaled(const uint32_t* x, uint32_t factor, int32_t* out, int64_t n) {
    auto* sums = reinterpret_cast<uint32_t*>(out);
    for (int64_t i = 0; i < n; ++i) {
        sums[i] -= x[i] * factor;
    }
}

const uint8_t* codes_of(const Tensor& tensor) {
    return reinterpret_cast<const uint8_t*>(tensor.bytes().data());
}

// codes[c * out_step + i * in_step + tap], added up for each c.
std::vector<uint32_t> sums_by_channel(const int8_t* codes, const ConvShape& shape,
                                      DirectLayout layout) {
    int64_t channels = shape.groups * shape.out_channels;
    int64_t kernel = shape.windows.kernel_count();
    std::vector<uint32_t> sums(channels);
    auto add = [&](int64_t c, int64_t i) {
        const int8_t* code = codes + c * layout.out_step + i * layout.in_step;
        for (int64_t tap = 0; tap < kernel; ++tap) {
            sums[c] += static_cast<uint32_t>(int32_t{code[tap]});
        }
    };
    // The shorter step is the inner one.
    bool by_channel = layout.out_step < layout.in_step;
    int64_t outer = by_channel ? shape.in_channels : channels;
    int64_t inner = by_channel ? channels : shape.in_channels;
    for (int64_t a = 0; a < outer; ++a) {
        for (int64_t b = 0; b < inner; ++b) {
            by_channel ? add(b, a) : add(a, b);
        }
    }
    return sums;
}

}  // namespace

ByteConvolution::ByteConvolution(const ConvShape& shape, const Tensor& w,
                                 std::span<const int64_t> zeros, DirectLayout layout)
    : shape_(shape), layout_(layout) {
    auto channels = static_cast<size_t>(shape.groups * shape.out_channels);
    bool is_signed = w.element_type() == ElementType::kInt8;
    bool has_zeros = false;
    for (size_t c = 0; c < channels && (zeros.size() == 1 || zeros.size() == channels); ++c) {
        int64_t zero = zeros[zeros.size() == 1 ? 0 : c] - (is_signed ? 0 : kSignOffset);
        zeros_.push_back(static_cast<uint32_t>(zero));
        has_zeros = has_zeros || zero != 0;
    }
    if (zeros_.empty() || (has_zeros && !FlatWindows::is_small(shape.windows))) {
        return;
    }
    if (!has_zeros) {
        zeros_.clear();
    }
    Scratch<uint8_t> moved(is_signed ? 0 : w.count());
    if (!is_signed) {
        move_sign(codes_of(w), moved.data(), w.count());
    }
    const auto* codes = reinterpret_cast<const int8_t*>(is_signed ? codes_of(w) : moved.data());
    sums_ = sums_by_channel(codes, shape, layout);
    direct_.emplace(shape, codes, layout);
}

void ByteConvolution::run(const Tensor& x, int64_t zero, const Workers& threads,
                          int32_t* out) const {
    bool is_signed = x.element_type() == ElementType::kInt8;
    Scratch<uint8_t> moved(is_signed ? x.count() : 0);
    if (is_signed) {
        move_sign(codes_of(x), moved.data(), x.count());
        zero += kSignOffset;
    }
    const uint8_t* codes = is_signed ? moved.data() : codes_of(x);
    auto factor = static_cast<uint32_t>(zero);
    std::vector<int32_t> start;
    for (uint32_t sum : sums_) {
        start.push_back(static_cast<int32_t>(0 - factor * sum));
    }
    direct_->run(codes, static_cast<uint8_t>(zero), start.data(), threads, out);
    if (!zeros_.empty()) {
        layout_.is_last_in_out ? subtract_row_sums(codes, factor, threads, out)
                               : subtract_window_sums(codes, factor, threads, out);
    }
}

// The zero points of the weights times the sums of x over the windows.
void ByteConvolution::subtract_window_sums(const uint8_t* x, uint32_t zero, const Workers& threads,
                                           int32_t* out) const {
    const WindowGeometry& g = shape_.windows;
    int64_t pictures = shape_.batch * shape_.groups, places = g.in_count();
    int64_t windows = g.out_count(), channels = shape_.out_channels;
    std::vector<uint32_t> planes(pictures * places);
    parallel_for(threads, pictures, items_per_task(shape_.in_channels * places),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t p = begin; p < end; ++p) {
                         uint32_t* plane = planes.data() + p * places;
                         std::fill_n(plane, places,
                                     0 - zero * static_cast<uint32_t>(shape_.in_channels));
                         for (int64_t i = 0; i < shape_.in_channels; ++i) {
                             add_bytes(x + (p * shape_.in_channels + i) * places, plane, places);
                         }
                     }
                 });
    ConvShape single = shape_;
    single.in_channels = single.out_channels = 1;
    std::vector<uint32_t> ones(shape_.groups * g.kernel_count(), 1);
    std::vector<uint32_t> sums(pictures * windows);
    SDX_CHECK(
        convolve_flat<uint32_t>(single, planes.data(), ones.data(), nullptr, threads, sums.data()));
    parallel_for(threads, pictures * channels, items_per_task(windows),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                         int64_t picture = i / channels;
                         int64_t channel = picture % shape_.groups * channels + i % channels;
                         subtract_scaled(sums.data() + picture * windows, zeros_[channel],
                                         out + i * windows, windows);
                     }
                 });
}

// The same for a product of matrices: the sums of the rows of x.
void ByteConvolution::subtract_row_sums(const uint8_t* x, uint32_t zero, const Workers& threads,
                                        int32_t* out) const {
    int64_t k = shape_.in_channels, n = shape_.out_channels;
    parallel_for(threads, shape_.windows.out_count(), items_per_task(k + n),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                         uint32_t sum =
                             sum_of_bytes(x + i * k, k) - zero * static_cast<uint32_t>(k);
                         subtract_scaled(zeros_.data(), sum, out + i * n, n);
                     }
                 });
}

std::shared_ptr<const ByteConvolution> kept_byte_convolution(const KernelContext& c,
                                                             const ConvShape& shape, CodeInput x,
                                                             CodeInput w, DirectLayout layout) {
    constexpr int64_t kLittleWork = 1 << 16;
    auto is_code = [](ElementType type) {
        return type == ElementType::kInt8 || type == ElementType::kUint8;
    };
    bool is_kept = is_code(c.type(x.codes)) && is_code(c.type(w.codes)) && c.is_constant(w.codes) &&
                   (!c.has_input(w.zero) || c.is_constant(w.zero)) &&
                   (!c.has_input(x.zero) || c.tensor(x.zero).count() == 1) &&
                   shape.windows.out_count() * c.tensor(w.codes).count() >= kLittleWork;
    if (!is_kept) {
        return nullptr;
    }
    auto bytes = c.kept<ByteConvolution>();
    if (bytes == nullptr || bytes->shape() != shape) {
        auto zeros = c.has_input(w.zero) ? to_int64s(c.tensor(w.zero)) : std::vector<int64_t>{0};
        bytes = std::make_shared<const ByteConvolution>(
            shape, c.tensor(w.codes), zeros.value_or(std::vector<int64_t>{}), layout);
        c.keep(bytes);
    }
    return bytes->is_usable() ? bytes : nullptr;
}

}  // namespace sardonyx::eval
