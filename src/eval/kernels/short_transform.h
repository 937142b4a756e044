// Inverse Fourier transforms of a few numbers in single precision, to the last bit as NumPy's.
//
// numpy.fft.ifft of single precision rounds after each step (its fft does not), and the node cases
// of DFT expect those errors, at numbers that are exactly 0. The steps are those of FFTPACK (P. N.
// Swarztrauber, 1982): one for each prime factor, 2 first, and turns after each step.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace sardonyx::eval::kernels {

class ShortTransform {
  public:
    using Real = float;

    struct Numbers {
        explicit Numbers(size_t count = 0) : items(count) {}

        void set(size_t i, std::complex<double> x) { items[i] = std::complex<float>(x); }
        std::complex<float> get(size_t i) const { return items[i]; }
        void exchange_parts();

        std::vector<std::complex<float>> items;
    };

    // Whether the length is one for these steps: at most 64, a product of 3, 5, 7 and at most one
    // 2. Their errors do not grow much at such lengths.
    static bool fits(size_t length);

    explicit ShortTransform(size_t length);

    // Transforms `length` numbers in place, forward, without a division; `work` is overwritten.
    void run(Numbers& x, Numbers& work) const;

  private:
    size_t length_;
    std::vector<size_t> factors_;
    std::vector<std::complex<float>> turns_;  // exp(-2 pi i k / length) at k
};

}  // namespace sardonyx::eval::kernels
