// Windows, Fourier transforms, and the mel filter bank.
//
// Transforms are computed in double: radix 2 where the length is a power of two, and Bluestein's
// algorithm (L. I. Bluestein, 1970: a convolution of a power-of-two length) for every other length.
#include <cmath>
#include <complex>
#include <numbers>

#include <fmt/format.h>

#include "eval/kernel.h"
#include "eval/kernels/cast.h"
#include "eval/kernels/strided.h"
#include "eval/kernels/visit.h"

namespace sardonyx::eval::kernels {
namespace {

using Complex = std::complex<double>;
using Signal = std::vector<Complex>;

constexpr double kPi = std::numbers::pi;

// --- Transforms ----------------------------------------------------------------------------------

// In place; the length is a power of two. `sign`: -1 forward, 1 inverse (without the division).
void transform_power_of_two(Signal& x, int sign) {
    size_t n = x.size();
    for (size_t i = 1, j = 0; i < n; ++i) {
        size_t bit = n >> 1;
        for (; (j & bit) != 0; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            std::swap(x[i], x[j]);
        }
    }
    for (size_t length = 2; length <= n; length <<= 1) {
        Signal roots(length / 2);
        for (size_t k = 0; k < roots.size(); ++k) {
            roots[k] = std::polar(
                1.0, sign * 2 * kPi * static_cast<double>(k) / static_cast<double>(length));
        }
        for (size_t start = 0; start < n; start += length) {
            for (size_t k = 0; k < length / 2; ++k) {
                Complex even = x[start + k];
                Complex odd = x[start + k + length / 2] * roots[k];
                x[start + k] = even + odd;
                x[start + k + length / 2] = even - odd;
            }
        }
    }
}

void transform(Signal& x, int sign) {
    size_t n = x.size();
    if ((n & (n - 1)) == 0) {
        transform_power_of_two(x, sign);
        return;
    }
    size_t padded = 1;
    while (padded < 2 * n - 1) {
        padded <<= 1;
    }
    Signal chirp(n), a(padded), b(padded);
    for (size_t k = 0; k < n; ++k) {
        // k * k modulo 2n, so that the angle keeps its precision.
        auto square = static_cast<double>((static_cast<unsigned __int128>(k) * k) % (2 * n));
        chirp[k] = std::polar(1.0, sign * kPi * square / static_cast<double>(n));
        a[k] = x[k] * chirp[k];
        b[k] = b[(padded - k) % padded] = std::conj(chirp[k]);
    }
    transform_power_of_two(a, -1);
    transform_power_of_two(b, -1);
    for (size_t k = 0; k < padded; ++k) {
        a[k] *= b[k];
    }
    transform_power_of_two(a, 1);
    for (size_t k = 0; k < n; ++k) {
        x[k] = a[k] / static_cast<double>(padded) * chirp[k];
    }
}

// A length that is worth allocating: Bluestein's arrays are up to four times as long.
Status check_length(const KernelContext& c, int64_t length) {
    if (length < 1) {
        return Error{fmt::format("the length {} of the transform is not positive", length)};
    }
    if (length > INT32_MAX) {
        return Error{fmt::format("the length {} of the transform is too large", length)};
    }
    return check_size(ElementType::kComplex128, Dims{4 * length}, c.options());
}

// What DFT does along one axis.
struct TransformShape {
    int axis = 0;
    int64_t length = 0;  // of the transform
    int64_t in = 0;      // elements of the axis that are read
    int64_t out = 0;     // elements of the axis that are written
    bool inverse = false;
    bool onesided = false;
    int64_t in_parts = 1;  // 1: real; 2: real and imaginary
    int64_t out_parts = 2;
};

Result<TransformShape> transform_shape(const KernelContext& c) {
    TransformShape t;
    int rank = c.rank(0);
    if (rank < 2 || c.dims(0)[rank - 1] < 1 || c.dims(0)[rank - 1] > 2) {
        return Error{fmt::format("the input {} must end in an axis of 1 (real) or 2 (complex)",
                                 to_string(c.dims(0)))};
    }
    int64_t axis = c.version() < 20 ? c.int_attribute("axis") : -2;
    if (c.version() >= 20 && c.has_input(2)) {
        SDX_ASSIGN(axis, c.int_scalar(2));
    }
    SDX_ASSIGN(t.axis, c.axis(axis, rank));
    if (t.axis == rank - 1) {
        return Error{"the last axis holds the parts of a number, and cannot be transformed"};
    }
    t.inverse = c.int_attribute("inverse") != 0;
    t.onesided = c.int_attribute("onesided") != 0;
    t.in_parts = c.dims(0)[rank - 1];
    int64_t have = c.dims(0)[t.axis];
    // A one-sided spectrum, back to a real signal.
    bool real_result = t.inverse && t.onesided;
    t.length = real_result ? 2 * (have - 1) : have;
    if (c.has_input(1)) {
        SDX_ASSIGN(t.length, c.int_scalar(1));
    }
    SDX_TRY(check_length(c, t.length));
    if (t.onesided && !t.inverse && t.in_parts != 1) {
        return Error{"a one-sided transform needs a real input"};
    }
    t.in = std::min(have, real_result ? t.length / 2 + 1 : t.length);
    t.out = t.onesided && !t.inverse ? t.length / 2 + 1 : t.length;
    t.out_parts = real_result ? 1 : 2;
    return t;
}

// One run of the axis, at `stride` numbers from each other.
template <typename T>
void transform_run(const TransformShape& t, const T* in, int64_t in_stride, T* out,
                   int64_t out_stride, Signal& x) {
    x.assign(t.length, Complex());
    for (int64_t i = 0; i < t.in; ++i) {
        const T* number = in + i * in_stride;
        x[i] = {static_cast<double>(number[0]),
                t.in_parts == 2 ? static_cast<double>(number[1]) : 0.0};
    }
    if (t.inverse && t.onesided) {
        for (int64_t i = t.length / 2 + 1; i < t.length; ++i) {
            x[i] = std::conj(x[t.length - i]);
        }
    }
    transform(x, t.inverse ? 1 : -1);
    double scale = t.inverse ? 1.0 / static_cast<double>(t.length) : 1.0;
    for (int64_t i = 0; i < t.out; ++i) {
        T* number = out + i * out_stride;
        number[0] = static_cast<T>(x[i].real() * scale);
        if (t.out_parts == 2) {
            number[1] = static_cast<T>(x[i].imag() * scale);
        }
    }
}

// --- Windows -------------------------------------------------------------------------------------

// The sum of `terms` of cosines: term k is at k turns over the window.
Status cosine_window(KernelContext& c, std::span<const double> terms) {
    SDX_ASSIGN(int64_t size, c.int_scalar(0));
    if (size < 0) {
        return Error{fmt::format("the size {} of the window is negative", size)};
    }
    ElementType type = element_type_from_number(c.int_attribute("output_datatype", 1));
    int64_t period = c.int_attribute("periodic", 1) != 0 ? size : size - 1;
    SDX_ASSIGN(Tensor * out, c.output(0, type, {size}));
    return visit(Numbers{}, type, [&]<typename T>() -> Status {
        for (int64_t i = 0; i < size; ++i) {
            double turn = period == 0 ? 0 : static_cast<double>(i) / static_cast<double>(period);
            double sum = period == 0 ? 1 : 0;  // one point is the middle of the window
            for (size_t k = 0; k < terms.size() && period != 0; ++k) {
                sum += terms[k] * std::cos(2 * kPi * turn * static_cast<double>(k));
            }
            out->mutable_elements<T>()[i] = saturate<T>(sum);
        }
        return {};
    });
}

double to_mel(double hertz) {
    return 2595 * std::log10(1 + hertz / 700);
}
double from_mel(double mel) {
    return 700 * (std::pow(10.0, mel / 2595) - 1);
}

// The bins of the spectrum at which the mel filters begin, peak and end.
std::vector<int64_t> mel_bins(int64_t filters, int64_t length, int64_t rate, double low,
                              double high) {
    double step = (to_mel(high) - to_mel(low)) / static_cast<double>(filters + 2);
    std::vector<int64_t> bins(filters + 2);
    for (int64_t i = 0; i < filters + 2; ++i) {
        double hertz = from_mel(to_mel(low) + step * static_cast<double>(i));
        bins[i] = saturate<int64_t>(
            std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
    }
    return bins;
}

}  // namespace

Status hann_window(KernelContext& c) {
    return cosine_window(c, std::array{0.5, -0.5});
}

Status hamming_window(KernelContext& c) {
    return cosine_window(c, std::array{25.0 / 46, -21.0 / 46});
}

Status blackman_window(KernelContext& c) {
    return cosine_window(c, std::array{0.42, -0.5, 0.08});
}

Status mel_weight_matrix(KernelContext& c) {
    SDX_ASSIGN(int64_t filters, c.int_scalar(0));
    SDX_ASSIGN(int64_t length, c.int_scalar(1));
    SDX_ASSIGN(int64_t rate, c.int_scalar(2));
    SDX_ASSIGN(double low, c.real_scalar(3));
    SDX_ASSIGN(double high, c.real_scalar(4));
    if (filters < 0 || length < 0 || rate <= 0 || filters > INT32_MAX || length > INT32_MAX) {
        return Error{"the sizes of the filter bank are not valid"};
    }
    ElementType type = element_type_from_number(c.int_attribute("output_datatype", 1));
    int64_t rows = length / 2 + 1;
    SDX_ASSIGN(Tensor * out, c.output(0, type, {rows, filters}));
    std::vector<int64_t> bins = mel_bins(filters, length, rate, low, high);
    return visit(Numbers{}, type, [&]<typename T>() -> Status {
        std::span<T> weights = out->mutable_elements<T>();
        for (int64_t filter = 0; filter < filters; ++filter) {
            int64_t begin = bins[filter], peak = bins[filter + 1], end = bins[filter + 2];
            for (int64_t row = 0; row < rows; ++row) {
                auto at = static_cast<double>(row);
                double weight = 0;
                if (row == peak && begin == peak) {
                    weight = 1;
                } else if (row >= begin && row <= peak && begin != peak) {
                    weight = (at - static_cast<double>(begin)) / static_cast<double>(peak - begin);
                }
                if (row >= peak && row < end && end > peak) {
                    weight = (static_cast<double>(end) - at) / static_cast<double>(end - peak);
                }
                weights[row * filters + filter] = saturate<T>(weight);
            }
        }
        return {};
    });
}

Status dft(KernelContext& c) {
    SDX_ASSIGN(TransformShape t, transform_shape(c));
    Dims dims = c.dims(0);
    dims[t.axis] = t.out;
    dims.back() = t.out_parts;
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), dims));
    if (out->count() == 0) {
        return {};
    }
    AxisView from = axis_view(c.dims(0), t.axis);
    AxisView to = axis_view(dims, t.axis);
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        Signal x;
        for (int64_t o = 0; o < from.outer; ++o) {
            for (int64_t k = 0; k < from.inner / t.in_parts; ++k) {
                transform_run(t, in + o * from.n * from.inner + k * t.in_parts, from.inner,
                              result + o * to.n * to.inner + k * t.out_parts, to.inner, x);
            }
        }
        return {};
    });
}

Status stft(KernelContext& c) {
    const Dims& dims = c.dims(0);
    if (dims.size() < 2 || dims.size() > 3 || (dims.size() == 3 && (dims[2] < 1 || dims[2] > 2))) {
        return Error{fmt::format("the signal {} must be [batch, length, 1 or 2]", to_string(dims))};
    }
    int64_t parts = dims.size() == 3 ? dims[2] : 1;
    SDX_ASSIGN(int64_t step, c.int_scalar(1));
    int64_t length = c.has_input(2) ? c.tensor(2).count() : dims[1];
    if (c.has_input(3)) {
        SDX_ASSIGN(length, c.int_scalar(3));
    }
    SDX_TRY(check_length(c, length));
    if (step < 1 || length > dims[1] || (c.has_input(2) && c.tensor(2).count() != length)) {
        return Error{
            fmt::format("frames of {} at steps of {} with a window of {} do not fit a "
                        "signal of {}",
                        length, step, c.has_input(2) ? c.tensor(2).count() : length, dims[1])};
    }
    bool onesided = c.int_attribute("onesided") != 0;
    if (onesided && parts == 2) {
        return Error{"a one-sided transform needs a real signal"};
    }
    int64_t frames = (dims[1] - length) / step + 1;
    int64_t bins = onesided ? length / 2 + 1 : length;
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), {dims[0], frames, bins, 2}));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* signal = c.tensor(0).elements<T>().data();
        const T* window = c.has_input(2) ? c.tensor(2).elements<T>().data() : nullptr;
        T* result = out->mutable_elements<T>().data();
        Signal x(length);
        for (int64_t frame = 0; frame < dims[0] * frames; ++frame) {
            const T* start = signal + (frame / frames * dims[1] + frame % frames * step) * parts;
            for (int64_t i = 0; i < length; ++i) {
                double weight = window != nullptr ? static_cast<double>(window[i]) : 1.0;
                x[i] = {static_cast<double>(start[i * parts]) * weight,
                        parts == 2 ? static_cast<double>(start[i * parts + 1]) * weight : 0.0};
            }
            transform(x, -1);
            for (int64_t k = 0; k < bins; ++k, result += 2) {
                result[0] = static_cast<T>(x[k].real());
                result[1] = static_cast<T>(x[k].imag());
            }
        }
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
