// Windows, Fourier transforms, and the mel filter bank.
//
// Transforms are computed in double: radix 2 where the length is a power of two, and Bluestein's
// algorithm (L. I. Bluestein, 1970: a convolution of a power-of-two length) for every other length;
// short inverse ones of single precision as in short_transform.h.
// What depends on the length alone is worked out once for all runs of an operator.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/short_transform.h"
#include "eval/loops/clones.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/scratch.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

using Complex = std::complex<double>;

constexpr double kPi = std::numbers::pi;

// --- Transforms ----------------------------------------------------------------------------------

// Numbers with their parts apart, so that loops over them are vectorised.
struct Signal {
    explicit Signal(size_t count = 0)
        : n(count),
          storage(2 * static_cast<int64_t>(n)),
          real(storage.data()),
          imaginary(real + n) {}

    void set(size_t i, Complex x) {
        real[i] = x.real();
        imaginary[i] = x.imag();
    }
    Complex get(size_t i) const { return {real[i], imaginary[i]}; }
    void exchange_parts() { std::swap(real, imaginary); }

    size_t n;
    Scratch<double> storage;
    double* real;
    double* imaginary;
};

// One step of a transform, of numbers [0, count) of a half and of the half behind it, which is
// turned: they become their sum and their difference.
[[gnu::always_inline]] inline void join_numbers(double* real, double* imaginary, int64_t half,
                                                int64_t count, const double* turn_real,
                                                const double* turn_imaginary) {
    double* odd_real = real + half;
    double* odd_imaginary = imaginary + half;
    SDX_INDEPENDENT_LOOP
    for (int64_t k = 0; k < count; ++k) {
        double x = odd_real[k] * turn_real[k] - odd_imaginary[k] * turn_imaginary[k];
        double y = odd_real[k] * turn_imaginary[k] + odd_imaginary[k] * turn_real[k];
        odd_real[k] = real[k] - x;
        odd_imaginary[k] = imaginary[k] - y;
        real[k] += x;
        imaginary[k] += y;
    }
}
// The same of all stretches of 2 * half numbers.
SDX_CLONES void join_halves(double* real, double* imaginary, int64_t n, int64_t half,
                            const double* turn_real, const double* turn_imaginary) {
    for (int64_t start = 0; start < n; start += 2 * half) {
        join_numbers(real + start, imaginary + start, half, half, turn_real, turn_imaginary);
    }
}
SDX_CLONES void join_part(double* real, double* imaginary, int64_t half, int64_t count,
                          const double* turn_real, const double* turn_imaginary) {
    join_numbers(real, imaginary, half, count, turn_real, turn_imaginary);
}

// x[k] *= y[k]
SDX_CLONES void multiply_numbers(double* real, double* imaginary, const double* other_real,
                                 const double* other_imaginary, int64_t n) {
    SDX_INDEPENDENT_LOOP
    for (int64_t k = 0; k < n; ++k) {
        double x = real[k] * other_real[k] - imaginary[k] * other_imaginary[k];
        imaginary[k] = real[k] * other_imaginary[k] + imaginary[k] * other_real[k];
        real[k] = x;
    }
}

// Calls body(i) for [first, last), and asks in between whether the run shall end; then some are
// left out.
template <typename Body>
void for_all(const Workers& workers, int64_t first, int64_t last, const Body& body) {
    in_turns(workers, last - first, kPolled, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            body(first + i);
        }
    });
}

// Transforms of a length that is a power of two, forward, without a division. When the run shall
// end, they and those below leave what they have not done.
class BinaryTransform {
  public:
    BinaryTransform(const Workers& workers, size_t n) : workers_(workers), turns_(n), order_(n) {
        for (size_t half = 1; half < n; half *= 2) {
            for_all(workers_, 0, half, [&](int64_t k) {
                turns_.set(half + k, std::polar(1.0, -kPi * static_cast<double>(k) /
                                                         static_cast<double>(half)));
            });
        }
        size_t reversed = 0;
        size_t* order = order_.data();
        for_all(workers_, 0, n, [&](int64_t i) {
            order[i] = reversed;
            size_t bit = n >> 1;
            for (; (reversed & bit) != 0; bit >>= 1) {
                reversed ^= bit;
            }
            reversed ^= bit;
        });
    }

    void run(Signal& x) const {
        if (workers_.are_stopped()) {
            return;  // the order may not be whole
        }
        auto n = static_cast<int64_t>(x.n);
        const size_t* order = order_.data();
        for_all(workers_, 0, n, [&](size_t i) {
            size_t other = order[i];
            if (i < other) {
                std::swap(x.real[i], x.real[other]);
                std::swap(x.imaginary[i], x.imaginary[other]);
            }
        });
        for (int64_t half = 1; half < n; half *= 2) {
            const double* real = turns_.real + half;
            const double* imaginary = turns_.imaginary + half;
            if (2 * half <= kPolled) {
                in_turns(workers_, n, kPolled, [&](int64_t begin, int64_t end) {
                    join_halves(x.real + begin, x.imaginary + begin, end - begin, half, real,
                                imaginary);
                });
                continue;
            }
            for (int64_t start = 0; start < n; start += 2 * half) {
                in_turns(workers_, half, kPolled, [&](int64_t begin, int64_t end) {
                    join_part(x.real + start + begin, x.imaginary + start + begin, half,
                              end - begin, real + begin, imaginary + begin);
                });
            }
        }
    }

  private:
    Workers workers_;
    Signal turns_;           // of the step that joins halves of h numbers: [h, 2h)
    Scratch<size_t> order_;  // the bits of each index reversed
};

// Transforms of any length, forward, without a division.
class Transform {
  public:
    using Real = double;
    using Numbers = Signal;

    Transform(const Workers& workers, size_t n)
        : workers_(workers),
          n_(n),
          is_binary_((n & (n - 1)) == 0),
          binary_(workers, is_binary_ ? n : padded_length(n)) {
        if (is_binary_) {
            return;
        }
        chirp_ = Signal(n);
        filter_ = Signal(padded_length(n));
        size_t padded = filter_.n;
        for_all(workers_, n, padded - n + 1, [&](int64_t k) { filter_.set(k, 0); });
        for_all(workers_, 0, n, [&](size_t k) {
            // k * k modulo 2n, so that the angle keeps its precision.
            auto square = static_cast<double>((static_cast<unsigned __int128>(k) * k) % (2 * n));
            Complex chirp = std::polar(1.0, -kPi * square / static_cast<double>(n));
            chirp_.set(k, chirp);
            // Divided here for the way back.
            Complex conjugate = std::conj(chirp) / static_cast<double>(padded);
            filter_.set(k, conjugate);
            filter_.set((padded - k) % padded, conjugate);
        });
        binary_.run(filter_);
    }

    // In place; `work` is overwritten.
    void run(Signal& x, Signal& work) const {
        if (is_binary_) {
            binary_.run(x);
            return;
        }
        multiply(x, chirp_, n_);
        size_t padded = filter_.n;
        if (work.n != padded) {
            work = Signal(padded);
        }
        for_all(workers_, 0, n_, [&](int64_t k) { work.set(k, x.get(k)); });
        for_all(workers_, n_, padded, [&](int64_t k) { work.set(k, 0); });
        binary_.run(work);
        multiply(work, filter_, padded);
        // The inverse is the transform with the parts exchanged before and after.
        work.exchange_parts();
        binary_.run(work);
        work.exchange_parts();
        for_all(workers_, 0, n_, [&](int64_t k) { x.set(k, work.get(k)); });
        multiply(x, chirp_, n_);
    }

  private:
    static size_t padded_length(size_t n) {
        size_t padded = 1;
        while (padded < 2 * n - 1) {
            padded <<= 1;
        }
        return padded;
    }
    void multiply(Signal& x, const Signal& y, size_t n) const {
        in_turns(workers_, static_cast<int64_t>(n), kPolled, [&](int64_t begin, int64_t end) {
            multiply_numbers(x.real + begin, x.imaginary + begin, y.real + begin,
                             y.imaginary + begin, end - begin);
        });
    }

    Workers workers_;
    size_t n_;
    bool is_binary_;
    BinaryTransform binary_;
    Signal chirp_;   // for lengths that are no power of two
    Signal filter_;  // the transform of the chirp's conjugate
};

// A length that is worth allocating: Bluestein's arrays are up to four times as long.
// A length as a scalar: onnx takes no vector of one element here.
Result<int64_t> length_of(const KernelContext& c, size_t i) {
    if (c.rank(i) != 0) {
        return Error{fmt::format("input {} must be a scalar, not of rank {}", i, c.rank(i))};
    }
    return c.int_scalar(i);
}

Status check_length(const KernelContext& c, int64_t length) {
    if (length < 1) {
        return Error{fmt::format("the length {} of the transform is not positive", length)};
    }
    if (length > INT32_MAX) {
        return Error{fmt::format("the length {} of the transform is too large", length)};
    }
    return check_size(ElementType::kComplex128, Dims{4 * length}, c.options());
}

// The DFT along one axis.
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
        SDX_ASSIGN(t.length, length_of(c, 1));
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

// One run of the axis, at `stride` numbers from each other; x and work are overwritten.
template <typename T, typename AnyTransform>
void transform_run(const Workers& threads, const TransformShape& t, const AnyTransform& transform,
                   const T* in, int64_t in_stride, T* out, int64_t out_stride,
                   typename AnyTransform::Numbers& x, typename AnyTransform::Numbers& work) {
    using Real = typename AnyTransform::Real;
    for_all(threads, 0, t.in, [&](int64_t i) {
        const T* number = in + i * in_stride;
        x.set(i, {as_double(number[0]), t.in_parts == 2 ? as_double(number[1]) : 0.0});
    });
    bool is_half = t.inverse && t.onesided;  // and the other half is its mirror image
    int64_t given = is_half ? t.length / 2 + 1 : t.length;
    for_all(threads, t.in, given, [&](int64_t i) { x.set(i, 0); });
    for_all(threads, given, t.length, [&](int64_t i) { x.set(i, std::conj(x.get(t.length - i))); });
    if (t.inverse) {
        x.exchange_parts();  // the transform with the parts exchanged
    }
    transform.run(x, work);
    if (t.inverse) {
        x.exchange_parts();
    }
    Real scale = t.inverse ? 1 / static_cast<Real>(t.length) : 1;
    for_all(threads, 0, t.out, [&](int64_t i) {
        T* number = out + i * out_stride;
        number[0] = static_cast<T>(x.get(i).real() * scale);
        if (t.out_parts == 2) {
            number[1] = static_cast<T>(x.get(i).imag() * scale);
        }
    });
}

// The approximate cost of a transform, for items_per_task().
int64_t operations_of(int64_t length) {
    return 64 * length;
}

// --- Windows -------------------------------------------------------------------------------------

// The sum of `terms` of cosines: term k is at k turns over the window.
Status cosine_window(KernelContext& c, std::span<const double> terms) {
    SDX_ASSIGN(int64_t size, length_of(c, 0));
    if (size < 0) {
        return Error{fmt::format("the size {} of the window is negative", size)};
    }
    ElementType type = element_type_from_number(c.int_attribute("output_datatype", 1));
    int64_t period = c.int_attribute("periodic", 1) != 0 ? size : size - 1;
    SDX_ASSIGN(Tensor * out, c.output(0, type, {size}));
    return visit(Numbers{}, type, [&]<typename T>() -> Status {
        for (int64_t i = 0; i < size; ++i) {
            if (i % kPolled == 0) {
                SDX_TRY(check_interrupt(c.options()));
            }
            double turn = period == 0 ? 0 : static_cast<double>(i) / static_cast<double>(period);
            double sum = period == 0 ? 1 : 0;  // one point is the middle of the window
            for (size_t k = 0; k < terms.size() && period != 0; ++k) {
                sum += terms[k] * std::cos(2 * kPi * turn * static_cast<double>(k));
            }
            out->mutable_elements<T>()[i] = saturate_sum<T>(sum);
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
            SDX_TRY(check_interrupt(c.options()));
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
        int64_t numbers = from.inner / t.in_parts;
        auto run_all = [&]<typename AnyTransform>(const AnyTransform& transform) {
            parallel_for(c.threads(), from.outer * numbers, items_per_task(operations_of(t.length)),
                         [&](int64_t begin, int64_t end) {
                             typename AnyTransform::Numbers x(t.length), work;
                             for (int64_t i = begin; i < end; ++i) {
                                 int64_t o = i / numbers, k = i % numbers;
                                 transform_run(c.threads(), t, transform,
                                               in + o * from.n * from.inner + k * t.in_parts,
                                               from.inner,
                                               result + o * to.n * to.inner + k * t.out_parts,
                                               to.inner, x, work);
                             }
                         });
        };
        bool is_two_sided_inverse = t.inverse && !t.onesided;
        if (std::is_same_v<T, float> && is_two_sided_inverse && ShortTransform::fits(t.length)) {
            run_all(ShortTransform(t.length));
        } else {
            run_all(Transform(c.threads(), t.length));
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
    SDX_ASSIGN(int64_t step, length_of(c, 1));
    int64_t length = c.has_input(2) ? c.tensor(2).count() : dims[1];
    if (c.has_input(3)) {
        SDX_ASSIGN(length, length_of(c, 3));
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
        Transform transform(c.threads(), length);
        parallel_for(
            c.threads(), dims[0] * frames, items_per_task(operations_of(length)),
            [&](int64_t begin, int64_t end) {
                Signal x(length), work;
                for (int64_t frame = begin; frame < end; ++frame) {
                    const T* start =
                        signal + (frame / frames * dims[1] + frame % frames * step) * parts;
                    in_turns(c.threads(), length, kPolled, [&](int64_t first, int64_t last) {
                        for (int64_t i = first; i < last; ++i) {
                            double weight = window != nullptr ? as_double(window[i]) : 1.0;
                            x.set(i, {as_double(start[i * parts]) * weight,
                                      parts == 2 ? as_double(start[i * parts + 1]) * weight : 0.0});
                        }
                    });
                    transform.run(x, work);
                    T* bin = result + frame * bins * 2;
                    for (int64_t k = 0; k < bins; ++k, bin += 2) {
                        bin[0] = static_cast<T>(x.real[k]);
                        bin[1] = static_cast<T>(x.imaginary[k]);
                    }
                }
            });
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
