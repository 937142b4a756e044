#include "eval/kernels/short_transform.h"

#include <numbers>

namespace sardonyx::eval::kernels {
namespace {

using Number = std::complex<float>;

constexpr size_t kLongest = 64;
constexpr size_t kFactors[] = {2, 3, 5, 7};
constexpr size_t kLargestFactor = 7;

// x * y, with each product rounded.
Number multiplied(Number x, Number y) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

// The transform of `factor` numbers, `stride` apart; turns are those of the whole length, of which
// `per_turn` are one of the factor's.
void join(const Number* in, size_t stride, size_t factor, const Number* turns, size_t per_turn,
          Number* out) {
    // An even factor is 2; of an odd one, numbers at the same distance from both ends share turns.
    size_t half = factor / 2;
    Number sums[kLargestFactor / 2 + 1], differences[kLargestFactor / 2 + 1];
    out[0] = in[0];
    for (size_t j = 1; j <= half; ++j) {
        Number left = in[j * stride], right = in[(factor - j) * stride];
        sums[j] = left + right;
        differences[j] = left - right;
        out[0] += sums[j];
    }
    if (factor == 2) {
        out[0] = in[0] + in[stride];
        out[1] = in[0] - in[stride];
        return;
    }
    for (size_t k = 1; k <= half; ++k) {
        Number even = in[0], odd;
        for (size_t j = 1; j <= half; ++j) {
            Number turn = turns[k * j % factor * per_turn];
            even += turn.real() * sums[j];
            Number part{turn.imag() * differences[j].imag(), turn.imag() * differences[j].real()};
            odd = j == 1 ? part : odd + part;
        }
        out[k] = {even.real() - odd.real(), even.imag() + odd.imag()};
        out[factor - k] = {even.real() + odd.real(), even.imag() - odd.imag()};
    }
}

}  // namespace

bool ShortTransform::fits(size_t length) {
    if (length < 3 || length > kLongest || length % 4 == 0) {
        return false;
    }
    for (size_t factor : kFactors) {
        while (length % factor == 0) {
            length /= factor;
        }
    }
    return length == 1;
}

ShortTransform::ShortTransform(size_t length) : length_(length) {
    size_t rest = length;
    for (size_t factor : kFactors) {
        for (; rest % factor == 0; rest /= factor) {
            factors_.push_back(factor);
        }
    }
    for (size_t k = 0; k < length; ++k) {
        double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
        turns_.emplace_back(std::polar(1.0, angle));
    }
}

void ShortTransform::Numbers::exchange_parts() {
    for (Number& x : items) {
        x = {x.imag(), x.real()};
    }
}

void ShortTransform::run(Numbers& x, Numbers& work) const {
    work.items.resize(length_);
    size_t done = 1;  // the product of the factors before
    for (size_t factor : factors_) {
        size_t rest = length_ / done / factor;
        for (size_t block = 0; block < done; ++block) {
            for (size_t i = 0; i < rest; ++i) {
                Number joined[kLargestFactor];
                join(x.items.data() + block * factor * rest + i, rest, factor, turns_.data(),
                     length_ / factor, joined);
                for (size_t k = 0; k < factor; ++k) {
                    Number& out = work.items[(k * done + block) * rest + i];
                    out = k * i == 0 ? joined[k] : multiplied(joined[k], turns_[k * i * done]);
                }
            }
        }
        x.items.swap(work.items);
        done *= factor;
    }
}

}  // namespace sardonyx::eval::kernels
