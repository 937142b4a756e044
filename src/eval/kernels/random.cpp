// Random operators and Dropout. The numbers are a hash of a key and a counter, so the same model
// gives the same numbers on every machine: the key is the `seed` attribute, or, without one, the
// run's seed and how many such operators have run before.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/clones.h"
#include "eval/loops/strided.h"
#include "eval/loops/vector_math.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

class Generator {
  public:
    explicit Generator(KernelContext& c) {
        const ir::Attribute* seed = c.find_attribute("seed");
        const float* as_float = seed != nullptr ? seed->get<float>() : nullptr;
        const int64_t* as_int = seed != nullptr ? seed->get<int64_t>() : nullptr;
        key_ = as_float != nullptr ? mix(std::bit_cast<uint32_t>(*as_float))
               : as_int != nullptr ? mix(static_cast<uint64_t>(*as_int))
                                   : mix(mix(c.random().counter++));
    }

    // Number i, in [0, 1), with 53 bits.
    double uniform(uint64_t i) const {
        return static_cast<double>(mix(key_ + i * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
    }
    // By Box and Muller's transform, out of the numbers 2i and 2i + 1; V: float or double, what it
    // is computed in.
    template <typename V>
    V normal(uint64_t i) const {
        V radius = std::sqrt(V(-2) * vector_log(static_cast<V>(1 - uniform(2 * i))));
        V turn = static_cast<V>(2 * std::numbers::pi * uniform(2 * i + 1));
        if constexpr (std::is_same_v<V, float>) {
            return radius * vector_sine(turn, true);
        } else {
            return radius * std::cos(turn);
        }
    }

  private:
    uint64_t key_ = 0;
};

constexpr int64_t kDrawsPerTask = 1 << 13;

// Of a distribution over the real numbers.
Status check_float_result(ElementType type) {
    if (!is_floating(type)) {
        return Error{
            fmt::format("the numbers cannot be {}: set `dtype` to a type of floats", name(type))};
    }
    return {};
}

// Fills output 0 with draw(i) for each element i, which is a pure function.
template <typename Draw>
Status fill(KernelContext& c, ElementType type, Dims dims, const Draw& draw) {
    SDX_ASSIGN(Tensor * out, c.output(0, type, std::move(dims)));
    return visit(NumbersAndBools{}, type, [&]<typename T>() -> Status {
        T* elements = out->mutable_elements<T>().data();
        parallel_for(c.threads(), out->count(), kDrawsPerTask, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                double x = draw(static_cast<uint64_t>(i));
                if constexpr (std::is_integral_v<T>) {
                    elements[i] = saturate<T>(x);
                } else {
                    elements[i] = static_cast<T>(x);
                }
            }
        });
        return {};
    });
}

SDX_CLONES void draw_normals(const Generator& generator, float mean, float scale, float* out,
                             int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        out[i] = mean + scale * generator.normal<float>(static_cast<uint64_t>(i));
    }
}

ElementType type_like(KernelContext& c) {
    return c.has_attribute("dtype") ? element_type_from_number(c.int_attribute("dtype"))
                                    : c.type(0);
}

Status fill_normal(KernelContext& c, ElementType type, Dims dims) {
    SDX_TRY(check_float_result(type));
    Generator generator(c);
    float mean = c.float_attribute("mean");
    float scale = c.float_attribute("scale");
    if (type != ElementType::kFloat) {
        return fill(c, type, std::move(dims),
                    [&](uint64_t i) { return mean + scale * generator.normal<double>(i); });
    }
    SDX_ASSIGN(Tensor * out, c.output(0, type, std::move(dims)));
    float* elements = out->mutable_elements<float>().data();
    parallel_for(c.threads(), out->count(), kDrawsPerTask, [&](int64_t begin, int64_t end) {
        draw_normals(generator, mean, scale, elements, begin, end);
    });
    return {};
}

Status fill_uniform(KernelContext& c, ElementType type, Dims dims) {
    SDX_TRY(check_float_result(type));
    Generator generator(c);
    double low = c.float_attribute("low");
    double high = c.float_attribute("high");
    return fill(c, type, std::move(dims),
                [&](uint64_t i) { return low + (high - low) * generator.uniform(i); });
}

Dims shape_attribute(KernelContext& c) {
    std::span<const int64_t> shape = c.ints_attribute("shape");
    return Dims(shape.begin(), shape.end());
}

ElementType dtype_attribute(KernelContext& c) {
    return element_type_from_number(c.int_attribute("dtype"));
}

// Whether Dropout drops anything, by the version's own way to say so.
Result<bool> dropout_trains(KernelContext& c) {
    if (c.version() < 7) {
        return c.int_attribute("is_test") == 0;
    }
    if (c.version() < 12 || !c.has_input(2)) {
        return false;
    }
    SDX_ASSIGN(int64_t mode, c.int_scalar(2));
    return mode != 0;
}

// What Dropout keeps of its input, times `scale`, and zeros. Of 8-bit floats in single precision.
Result<Tensor> scale_kept(KernelContext& c, const Tensor& keep, double scale) {
    ElementType type = info(c.type(0)).bits == 8 ? ElementType::kFloat : c.type(0);
    SDX_ASSIGN(Tensor x, cast_tensor(c, c.tensor(0), type));
    SDX_ASSIGN(Tensor out, c.scratch(type, c.dims(0)));
    SDX_TRY(visit(Floats{}, type, [&]<typename T>() -> Status {
        using V = Compute<T>;
        auto factor = static_cast<V>(scale);
        const T* in = x.elements<T>().data();
        const bool* kept = keep.elements<bool>().data();
        T* result = out.mutable_elements<T>().data();
        parallel_for(c.threads(), out.count(), kDrawsPerTask, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                V product = static_cast<V>(in[i]) * factor;
                result[i] = static_cast<T>(kept[i] ? product : V(0));
            }
        });
        return {};
    }));
    return cast_tensor(c, out, c.type(0));
}

}  // namespace

Status random_normal(KernelContext& c) {
    return fill_normal(c, dtype_attribute(c), shape_attribute(c));
}
Status random_uniform(KernelContext& c) {
    return fill_uniform(c, dtype_attribute(c), shape_attribute(c));
}
Status random_normal_like(KernelContext& c) {
    return fill_normal(c, type_like(c), c.dims(0));
}
Status random_uniform_like(KernelContext& c) {
    return fill_uniform(c, type_like(c), c.dims(0));
}

Status bernoulli(KernelContext& c) {
    Generator generator(c);
    SDX_ASSIGN(Tensor chances, cast_tensor(c, c.tensor(0), ElementType::kDouble));
    const double* chance = chances.elements<double>().data();
    return fill(c, type_like(c), c.dims(0),
                [&](uint64_t i) { return generator.uniform(i) < chance[i] ? 1.0 : 0.0; });
}

// Input: the logarithms of weights, [batch, classes].
Status multinomial(KernelContext& c) {
    if (c.rank(0) != 2) {
        return Error{"the input must be a matrix"};
    }
    Generator generator(c);
    int64_t classes = c.dims(0)[1];
    int64_t samples = c.int_attribute("sample_size");
    if (samples < 1 || classes < 1) {
        return Error{fmt::format("{} samples of {} classes cannot be drawn", samples, classes)};
    }
    SDX_ASSIGN(Tensor logits, cast_tensor(c, c.tensor(0), ElementType::kDouble));
    // The weights added up: what a draw falls among.
    SDX_ASSIGN(Tensor cumulative, c.scratch(ElementType::kDouble, c.dims(0)));
    double* sums = cumulative.mutable_elements<double>().data();
    std::span<const double> all = logits.elements<double>();
    for (int64_t row = 0; row < logits.count(); row += classes) {
        double greatest = *std::max_element(all.begin() + row, all.begin() + row + classes);
        double total = 0;
        for (int64_t k = row; k < row + classes; ++k) {
            sums[k] = total += std::exp(all[k] - greatest);
        }
    }
    return fill(c, dtype_attribute(c), {c.dims(0)[0], samples}, [&](uint64_t i) {
        const double* first = sums + static_cast<int64_t>(i) / samples * classes;
        const double* last = first + classes - 1;
        const double* at = std::upper_bound(first, last, generator.uniform(i) * *last);
        return static_cast<double>(at - first);
    });
}

Status dropout(KernelContext& c) {
    double ratio = c.version() < 12 ? c.float_attribute("ratio") : 0.5;
    if (c.version() >= 12 && c.has_input(1)) {
        SDX_ASSIGN(ratio, c.real_scalar(1));
    }
    SDX_ASSIGN(bool trains, dropout_trains(c));
    if (!(ratio >= 0 && ratio <= 1)) {
        return Error{fmt::format("the ratio {} is not within 0 and 1", ratio)};
    }
    Generator generator(c);
    // Version 10 and later have a mask of BOOL, earlier ones of the input's type.
    ElementType mask_type = c.version() < 10 ? c.type(0) : ElementType::kBool;
    SDX_ASSIGN(Tensor keep, c.scratch(ElementType::kBool, c.dims(0)));
    bool* flags = keep.mutable_elements<bool>().data();
    parallel_for(c.threads(), keep.count(), kDrawsPerTask, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            flags[i] =
                !trains || ratio == 0 || generator.uniform(static_cast<uint64_t>(i)) >= ratio;
        }
    });
    if (!trains || ratio == 0) {
        c.set_output(0, c.tensor(0));
    } else {
        SDX_ASSIGN(Tensor scaled, scale_kept(c, keep, 1 / (1 - ratio)));
        c.set_output(0, std::move(scaled));
    }
    if (c.wants(1)) {
        SDX_ASSIGN(Tensor mask, cast_tensor(c, keep, mask_type));
        c.set_output(1, std::move(mask));
    }
    return {};
}

}  // namespace sardonyx::eval::kernels
