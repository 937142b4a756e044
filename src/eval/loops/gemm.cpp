#include "eval/loops/gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "eval/loops/clones.h"
#include "eval/loops/gemm_small.h"
#include "eval/loops/onednn.h"
#include "eval/loops/pairwise_sums.h"
#include "eval/runtime/parallel.h"

namespace sardonyx::eval {
namespace {

// --- The blocked loop ----------------------------------------------------------------------------

// A block of the result is kept in registers: kPanelRows rows of two vectors.
constexpr int kPanelRows = 6;

template <typename S>
inline constexpr int kColumns = 2 * kVectorBytes / static_cast<int>(sizeof(S));

// Terms that are added up one after the other.
constexpr int64_t kChain = 256;

// The number of terms of all blocks but the last.
constexpr int64_t full_blocks(int64_t k, int64_t block) {
    return k > 0 ? (k - 1) / block * block : 0;
}

// c[kBlockRows, columns] += a * b, where b is kPanels packed panels of kColumns<S> columns each,
// k * kColumns<S> apart. Element (i, p) of a is at i * row_a + p * step_a.
template <typename S, int kBlockRows, int kPanels>
[[gnu::always_inline]] inline void multiply_block(const S* a, int64_t row_a, int64_t step_a,
                                                  const S* panels, S* c, int64_t step_c, int64_t k,
                                                  int64_t columns) {
    typedef S Vector __attribute__((vector_size(kVectorBytes), aligned(alignof(S)), may_alias));
    typedef S Lanes __attribute__((vector_size(kVectorBytes)));
    constexpr int kLanes = kVectorBytes / sizeof(S);
    Lanes sums[kBlockRows][2 * kPanels] = {};
    auto add_terms = [&](int64_t begin, int64_t end, auto& chain) __attribute__((always_inline)) {
        for (int64_t p = begin; p < end; ++p) {
            for (int panel = 0; panel < kPanels; ++panel) {
                const Vector* b =
                    reinterpret_cast<const Vector*>(panels + (panel * k + p) * kColumns<S>);
                for (int i = 0; i < kBlockRows; ++i) {
                    const S x = a[i * row_a + p * step_a];
                    chain[i][2 * panel] += x * b[0];
                    chain[i][2 * panel + 1] += x * b[1];
                }
            }
        }
    };
    // Blocks are kept in memory beside the sums, which stay in registers.
    int64_t last = std::is_integral_v<S> ? 0 : full_blocks(k, kChain);
    add_terms(last, k, sums);
    if (last > 0) {
        Lanes block[kBlockRows][2 * kPanels];
        PairwiseSums<S, kBlockRows * 2 * kPanels> blocks;
        auto copy = [](const auto& from, auto& to) __attribute__((always_inline)) {
            for (int i = 0; i < kBlockRows; ++i) {
                for (int v = 0; v < 2 * kPanels; ++v) {
                    to[i][v] = from[i][v];
                }
            }
        };
        for (int64_t p = 0; p < last; p += kChain) {
            Lanes chain[kBlockRows][2 * kPanels] = {};
            add_terms(p, p + kChain, chain);
            copy(chain, block);
            blocks.add(&block[0][0]);
        }
        copy(sums, block);
        blocks.finish(&block[0][0]);
        copy(block, sums);
    }
    for (int i = 0; i < kBlockRows; ++i) {
        S* row = c + i * step_c;
        if (columns == kPanels * kColumns<S>) {
            for (int v = 0; v < 2 * kPanels; ++v) {
                *reinterpret_cast<Vector*>(row + v * kLanes) += sums[i][v];
            }
        } else {
            for (int64_t j = 0; j < columns; ++j) {
                row[j] += sums[i][j / kLanes][j % kLanes];
            }
        }
    }
}

// c[m, columns] += a * panel.
template <typename S>
[[gnu::always_inline]] inline void multiply_panel(const MatrixProduct<S>& product, const S* panel,
                                                  int64_t first_column, int64_t columns) {
    int64_t row_a = product.transpose_a ? 1 : product.step_a;
    int64_t step_a = product.transpose_a ? product.step_a : 1;
    int64_t i = 0;
    for (; i + kPanelRows <= product.m; i += kPanelRows) {
        multiply_block<S, kPanelRows, 1>(product.a + i * row_a, row_a, step_a, panel,
                                         product.c + i * product.step_c + first_column,
                                         product.step_c, product.k, columns);
    }
    for (; i < product.m; ++i) {
        multiply_block<S, 1, 1>(product.a + i * row_a, row_a, step_a, panel,
                                product.c + i * product.step_c + first_column, product.step_c,
                                product.k, columns);
    }
}

SDX_CLONES void run_panel(const MatrixProduct<float>& p, const float* panel, int64_t first,
                          int64_t columns) {
    multiply_panel(p, panel, first, columns);
}
SDX_CLONES void run_panel(const MatrixProduct<double>& p, const double* panel, int64_t first,
                          int64_t columns) {
    multiply_panel(p, panel, first, columns);
}
SDX_CLONES void run_panel(const MatrixProduct<uint32_t>& p, const uint32_t* panel, int64_t first,
                          int64_t columns) {
    multiply_panel(p, panel, first, columns);
}
SDX_CLONES void run_panel(const MatrixProduct<uint64_t>& p, const uint64_t* panel, int64_t first,
                          int64_t columns) {
    multiply_panel(p, panel, first, columns);
}

// The columns [first, first + columns) of b, one row after the other, with zeros after them.
template <typename S>
void pack_panel(const MatrixProduct<S>& product, int64_t first, int64_t columns, S* panel) {
    for (int64_t p = 0; p < product.k; ++p, panel += kColumns<S>) {
        for (int64_t j = 0; j < columns; ++j) {
            panel[j] = product.transpose_b ? product.b[(first + j) * product.step_b + p]
                                           : product.b[p * product.step_b + first + j];
        }
        std::fill(panel + columns, panel + kColumns<S>, S(0));
    }
}

template <typename S>
void multiply_blocked(const MatrixProduct<S>& product) {
    std::vector<S> panel(product.k * kColumns<S>);
    for (int64_t first = 0; first < product.n; first += kColumns<S>) {
        int64_t columns = std::min<int64_t>(kColumns<S>, product.n - first);
        pack_panel(product, first, columns, panel.data());
        run_panel(product, panel.data(), first, columns);
    }
}

// One row or few: packing would cost more than the product. One chain for each element of c.
template <typename S>
[[gnu::always_inline]] inline void multiply_rows(const MatrixProduct<S>& product) {
    for (int64_t i = 0; i < product.m; ++i) {
        S* row = product.c + i * product.step_c;
        const S* a = product.a + (product.transpose_a ? i : i * product.step_a);
        int64_t step = product.transpose_a ? product.step_a : 1;
        int64_t p = 0;
        for (; p + 4 <= product.k; p += 4) {  // the row is read and written once for four terms
            const S x0 = a[p * step], x1 = a[(p + 1) * step];
            const S x2 = a[(p + 2) * step], x3 = a[(p + 3) * step];
            const S *b0 = product.b + p * product.step_b, *b1 = b0 + product.step_b;
            const S *b2 = b1 + product.step_b, *b3 = b2 + product.step_b;
            for (int64_t j = 0; j < product.n; ++j) {
                row[j] = row[j] + x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j];
            }
        }
        for (; p < product.k; ++p) {
            const S x = a[p * step];
            const S* b = product.b + p * product.step_b;
            for (int64_t j = 0; j < product.n; ++j) {
                row[j] += x * b[j];
            }
        }
    }
}
SDX_CLONES void run_rows(const MatrixProduct<float>& p) {
    multiply_rows(p);
}
SDX_CLONES void run_rows(const MatrixProduct<double>& p) {
    multiply_rows(p);
}
SDX_CLONES void run_rows(const MatrixProduct<uint32_t>& p) {
    multiply_rows(p);
}
SDX_CLONES void run_rows(const MatrixProduct<uint64_t>& p) {
    multiply_rows(p);
}

// A sum of products along a row is kept in the lanes of a vector. In the end its upper half is
// added to the lower one until one lane is left; so many sums at a time, since their halves
// together make whole vectors again.
template <typename S>
inline constexpr int kDots = kVectorBytes / 2 / static_cast<int>(sizeof(S));

// Where lane `i` of the lower halves comes from, when the lanes are segments of so many.
constexpr int lane_of_half(int i, int segment) {
    return i / (segment / 2) * segment + i % (segment / 2);
}

// Vectors are passed by reference: by value their place depends on the instruction set.
template <int kSegment, typename Vector, int... kLane>
[[gnu::always_inline]] inline void add_halves(Vector& u, const Vector& v,
                                              std::integer_sequence<int, kLane...>) {
    u = __builtin_shufflevector(u, v, lane_of_half(kLane, kSegment)...) +
        __builtin_shufflevector(u, v, (lane_of_half(kLane, kSegment) + kSegment / 2)...);
}

// The sums of kCount vectors as segments of the first; at last a lane for each of kDots vectors.
template <typename S, int kCount, typename Vector>
[[gnu::always_inline]] inline void add_lanes(Vector* vectors) {
    if constexpr (kCount > 1) {
        add_lanes<S, kCount / 2>(vectors);
        add_lanes<S, kCount / 2>(vectors + kCount / 2);
        add_halves<2 * kDots<S> / kCount>(vectors[0], vectors[kCount / 2],
                                          std::make_integer_sequence<int, kDots<S>>());
    }
}

// Terms of a block of such sums.
template <typename S>
inline constexpr int64_t kDotBlock = kVectorBytes / sizeof(S) * kChain;

// The products of one row with kCount rows of b, `step` apart. kIsLong: of more than a block.
template <typename S, int kCount, bool kIsLong>
[[gnu::always_inline]] inline void add_dots(const S* a, const S* b, int64_t step, int64_t k, S* c) {
    typedef S Vector __attribute__((vector_size(kVectorBytes), aligned(alignof(S)), may_alias));
    typedef S Lanes __attribute__((vector_size(kVectorBytes)));
    typedef S Half __attribute__((vector_size(kVectorBytes / 2)));
    constexpr int64_t kLanes = kVectorBytes / sizeof(S);
    Lanes sums[kCount] = {};
    auto add_terms = [&](int64_t begin, int64_t end, auto& chain) __attribute__((always_inline)) {
        for (int64_t p = begin; p + kLanes <= end; p += kLanes) {
            Vector x = *reinterpret_cast<const Vector*>(a + p);
            for (int j = 0; j < kCount; ++j) {
                chain[j] += x * *reinterpret_cast<const Vector*>(b + j * step + p);
            }
        }
    };
    int64_t last = kIsLong ? full_blocks(k, kDotBlock<S>) : 0;
    add_terms(last, k, sums);
    if constexpr (kIsLong) {
        Lanes block[kCount];
        PairwiseSums<S, kCount> blocks;
        for (int64_t p = 0; p < last; p += kDotBlock<S>) {
            Lanes chain[kCount] = {};
            add_terms(p, p + kDotBlock<S>, chain);
            for (int j = 0; j < kCount; ++j) {
                block[j] = chain[j];
            }
            blocks.add(block);
        }
        for (int j = 0; j < kCount; ++j) {
            block[j] = sums[j];
        }
        blocks.finish(block);
        for (int j = 0; j < kCount; ++j) {
            sums[j] = block[j];
        }
    }
    Half halves[kDots<S>] = {};
    for (int j = 0; j < kCount; ++j) {
        Half parts[2];
        std::memcpy(parts, &sums[j], sizeof parts);
        halves[j] = parts[0] + parts[1];
    }
    add_lanes<S, kDots<S>>(halves);
    for (int j = 0; j < kCount; ++j) {
        S sum = halves[0][j];
        for (int64_t rest = k / kLanes * kLanes; rest < k; ++rest) {
            sum += a[rest] * b[j * step + rest];
        }
        c[j] += sum;
    }
}

// The same for a transposed b: sums along its rows.
template <typename S, bool kIsLong>
[[gnu::always_inline]] inline void add_all_dots(const MatrixProduct<S>& product) {
    for (int64_t i = 0; i < product.m; ++i) {
        const S* a = product.a + i * product.step_a;
        const S* b = product.b;
        S* c = product.c + i * product.step_c;
        int64_t j = 0;
        for (; j + kDots<S> <= product.n; j += kDots<S>, b += kDots<S> * product.step_b) {
            add_dots<S, kDots<S>, kIsLong>(a, b, product.step_b, product.k, c + j);
        }
        for (; j < product.n; ++j, b += product.step_b) {
            add_dots<S, 1, kIsLong>(a, b, product.step_b, product.k, c + j);
        }
    }
}
template <typename S>
[[gnu::always_inline]] inline void multiply_dots(const MatrixProduct<S>& product) {
    if (std::is_integral_v<S> || product.k <= kDotBlock<S>) {
        add_all_dots<S, false>(product);
    } else {
        add_all_dots<S, true>(product);
    }
}
SDX_CLONES void run_dots(const MatrixProduct<float>& p) {
    multiply_dots(p);
}
SDX_CLONES void run_dots(const MatrixProduct<double>& p) {
    multiply_dots(p);
}
SDX_CLONES void run_dots(const MatrixProduct<uint32_t>& p) {
    multiply_dots(p);
}
SDX_CLONES void run_dots(const MatrixProduct<uint64_t>& p) {
    multiply_dots(p);
}

// A column without gaps, which is a row of the transposed matrix.
template <typename S>
bool is_column(const MatrixProduct<S>& product) {
    return product.n == 1 && product.step_b == 1 && !product.transpose_b;
}

// So few rows, or columns, that packing would cost more than the product.
template <typename S>
bool is_thin(const MatrixProduct<S>& product) {
    bool by_dots = (product.transpose_b || is_column(product)) && !product.transpose_a;
    return (product.m <= 3 && (by_dots || !product.transpose_b)) || (product.n <= 8 && by_dots);
}

// The terms [first, end) of each sum, into another matrix without gaps.
template <typename S>
MatrixProduct<S> terms_of(MatrixProduct<S> p, int64_t first, int64_t end, S* c) {
    p.a += first * (p.transpose_a ? p.step_a : 1);
    p.b += first * (p.transpose_b ? 1 : p.step_b);
    p.k = end - first;
    p.c = c;
    p.step_c = p.n;
    return p;
}

// out += in, which do not overlap.
template <typename S>
void add_numbers(const S* __restrict in, S* __restrict out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] += in[i];
    }
}

// The same as run_rows(), for sums of more than a block: a tree of blocks as in PairwiseSums, whose
// sums are rows in memory.
template <typename S>
void run_rows_in_blocks(const MatrixProduct<S>& product) {
    int64_t size = product.m * product.n;
    std::vector<S> room;
    int64_t held = 0;  // sums in it
    for (int64_t p = 0, count = 1; p < product.k; p += kChain, ++count) {
        int64_t end = std::min(p + kChain, product.k);
        room.resize(++held * size, S(0));
        run_rows(terms_of(product, p, end, room.data() + (held - 1) * size));
        // The last block joins all that are left.
        int64_t joins =
            end == product.k ? held - 1 : std::countr_zero(static_cast<uint64_t>(count));
        for (; joins > 0; --joins, --held) {
            add_numbers(room.data() + (held - 1) * size, room.data() + (held - 2) * size, size);
            room.resize((held - 1) * size);
        }
    }
    for (int64_t i = 0; i < product.m; ++i) {
        for (int64_t j = 0; j < product.n; ++j) {
            product.c[i * product.step_c + j] += room[i * product.n + j];
        }
    }
}

template <typename S>
void multiply_here(const MatrixProduct<S>& product) {
    if (!is_thin(product)) {
        multiply_blocked(product);
    } else if (product.transpose_b) {
        run_dots(product);
    } else if (is_column(product) && !product.transpose_a) {
        MatrixProduct<S> dots = product;
        dots.transpose_b = true;
        dots.step_b = product.k;
        run_dots(dots);
    } else if (std::is_floating_point_v<S> && product.k > kChain) {
        run_rows_in_blocks(product);
    } else {
        run_rows(product);
    }
}

void multiply_here(const MatrixProduct<float>& product) {
    // Below this the call costs more than it gains, and the library need not be loaded.
    constexpr int64_t kSmall = 1 << 14;
    bool is_large = product.m * product.k * product.n >= kSmall;
    if (!is_large || is_thin(product) || !multiply_by_onednn(product)) {
        multiply_here<float>(product);
    }
}

// --- Packed matrices -----------------------------------------------------------------------------

// Panels that a block of so many rows takes at once, so that enough sums are under way.
constexpr int panels_of_rows(int64_t rows) {
    return rows == 1 ? 4 : rows <= 3 ? 2 : 1;
}

// The rows of one block of c, at most kRows, and the columns of the panels that it takes at once.
template <typename S, int kRows>
[[gnu::always_inline]] inline void multiply_packed_rows(int64_t rows, const S* a, int64_t step_a,
                                                        const S* panels, S* c, int64_t step_c,
                                                        int64_t k, int64_t columns) {
    constexpr int kPanels = panels_of_rows(kRows);
    if (rows < kRows) {
        if constexpr (kRows > 1) {
            multiply_packed_rows<S, kRows - 1>(rows, a, step_a, panels, c, step_c, k, columns);
        }
    } else if (columns > (kPanels - 1) * kColumns<S>) {
        multiply_block<S, kRows, kPanels>(a, step_a, 1, panels, c, step_c, k, columns);
    } else {
        for (; columns > 0; columns -= kColumns<S>) {
            multiply_block<S, kRows, 1>(a, step_a, 1, panels, c, step_c, k,
                                        std::min<int64_t>(columns, kColumns<S>));
            panels += k * kColumns<S>;
            c += kColumns<S>;
        }
    }
}

// c[m, n] += a * panels.
template <typename S>
[[gnu::always_inline]] inline void multiply_packed(int64_t m, const S* a, int64_t step_a,
                                                   const S* panels, int64_t k, int64_t n, S* c,
                                                   int64_t step_c) {
    for (int64_t i = 0; i < m;) {
        // Blocks of about the same size.
        int64_t blocks = (m - i + kPanelRows - 1) / kPanelRows;
        int64_t rows = (m - i + blocks - 1) / blocks;
        int64_t width = panels_of_rows(rows) * kColumns<S>;
        for (int64_t j = 0; j < n; j += width) {
            multiply_packed_rows<S, kPanelRows>(rows, a + i * step_a, step_a, panels + j * k,
                                                c + i * step_c + j, step_c, k,
                                                std::min(width, n - j));
        }
        i += rows;
    }
}
SDX_CLONES void run_packed(int64_t m, const float* a, int64_t step_a, const float* panels,
                           int64_t k, int64_t n, float* c, int64_t step_c) {
    multiply_packed(m, a, step_a, panels, k, n, c, step_c);
}
SDX_CLONES void run_packed(int64_t m, const double* a, int64_t step_a, const double* panels,
                           int64_t k, int64_t n, double* c, int64_t step_c) {
    multiply_packed(m, a, step_a, panels, k, n, c, step_c);
}

// The number of rows for one call of a loop that takes so many products for each row: some
// milliseconds' work, so that a run can be interrupted.
int64_t rows_of_call(int64_t rows, int64_t products) {
    constexpr int64_t kCall = int64_t{1} << 27;
    constexpr int64_t kGrain = 48;
    int64_t most = kCall / std::max<int64_t>(1, products) / kGrain * kGrain;
    return std::clamp(most, kGrain, std::max(rows, kGrain));
}

template <typename S>
void multiply_packed_in_tasks(int64_t m, const S* a, int64_t step_a, const PackedMatrix<S>& b, S* c,
                              int64_t step_c, const Workers& threads) {
    constexpr int64_t kRowsOfFullSpeed = 4;  // with fewer, reading b takes the time
    constexpr int64_t kTask = 1 << 18;
    constexpr int64_t kGrain = 4 * kColumns<S>;
    // All rows of a task's part of b one after the other, while that is in the cache.
    int64_t column = std::min(m, kRowsOfFullSpeed) * b.k();
    int64_t piece = std::max(kTask / std::max<int64_t>(1, column) / kGrain, int64_t{1}) * kGrain;
    int64_t rows = rows_of_call(m, b.k() * piece);
    parallel_for(threads, b.n(), piece, [&](int64_t first, int64_t end) {
        for (int64_t i = 0; i < m && (i == 0 || !threads.poll()); i += rows) {
            run_packed(std::min(rows, m - i), a + i * step_a, step_a, b.panels() + first * b.k(),
                       b.k(), end - first, c + i * step_c + first, step_c);
        }
    });
}

// --- Tasks ---------------------------------------------------------------------------------------

template <typename S>
MatrixProduct<S> rows_of(MatrixProduct<S> p, int64_t first, int64_t end) {
    p.a += first * (p.transpose_a ? 1 : p.step_a);
    p.c += first * p.step_c;
    p.m = end - first;
    return p;
}

template <typename S>
MatrixProduct<S> columns_of(MatrixProduct<S> p, int64_t first, int64_t end) {
    p.b += first * (p.transpose_b ? p.step_b : 1);
    p.c += first;
    p.n = end - first;
    return p;
}

// In calls of some ten milliseconds, between which the run can be interrupted; each has the rows or
// columns that make packing the other matrix worth while.
template <typename S>
void multiply_in_calls(const MatrixProduct<S>& product, const Workers& threads) {
    constexpr int64_t kCall = int64_t{1} << (std::is_same_v<S, float> ? 29 : 26);
    constexpr int64_t kLeast = 192;
    if (product.m * product.k * product.n <= kCall || std::max(product.m, product.n) < 2 * kLeast) {
        multiply_here(product);
        return;
    }
    bool by_rows = product.m >= product.n;
    int64_t half = std::max(product.m, product.n) / 2;
    half = (half + kLeast - 1) / kLeast * kLeast;
    multiply_in_calls(by_rows ? rows_of(product, 0, half) : columns_of(product, 0, half), threads);
    if (!threads.poll()) {
        multiply_in_calls(
            by_rows ? rows_of(product, half, product.m) : columns_of(product, half, product.n),
            threads);
    }
}

template <typename S>
void multiply_in_tasks(const MatrixProduct<S>& product, const Workers& threads) {
    // A task should take some ten microseconds, and its rows or columns should fill registers.
    constexpr int64_t kTask = 1 << 19;
    constexpr int64_t kGrain = 48;
    constexpr int64_t kMostTasks = 16;
    if (product.m <= 0 || product.n <= 0 || product.k <= 0) {
        return;
    }
    int64_t longest = std::max(product.m, product.n);
    int64_t tasks = std::min(product.m * product.k * product.n / kTask, kMostTasks);
    if (tasks < 2 || longest < 2 * kGrain) {
        multiply_here(product);
        return;
    }
    int64_t piece = (longest / tasks + kGrain - 1) / kGrain * kGrain;
    parallel_for(threads, longest, piece, [&](int64_t first, int64_t end) {
        multiply_in_calls(
            product.m >= product.n ? rows_of(product, first, end) : columns_of(product, first, end),
            threads);
    });
}

}  // namespace

template <typename S>
PackedMatrix<S>::PackedMatrix(const S* b, int64_t step_b, bool transpose_b, int64_t k, int64_t n)
    : k_(k), n_(n), panels_((n + kColumns<S> - 1) / kColumns<S> * kColumns<S> * k) {
    MatrixProduct<S> product;
    product.k = k;
    product.b = b;
    product.step_b = step_b;
    product.transpose_b = transpose_b;
    for (int64_t first = 0; first < n; first += kColumns<S>) {
        int64_t columns = std::min<int64_t>(kColumns<S>, n - first);
        pack_panel(product, first, columns, panels_.data() + first * k);
    }
}
template class PackedMatrix<float>;
template class PackedMatrix<double>;

void multiply_add(int64_t m, const float* a, int64_t step_a, const PackedMatrix<float>& b, float* c,
                  int64_t step_c, const Workers& threads) {
    multiply_packed_in_tasks(m, a, step_a, b, c, step_c, threads);
}
void multiply_add(int64_t m, const double* a, int64_t step_a, const PackedMatrix<double>& b,
                  double* c, int64_t step_c, const Workers& threads) {
    multiply_packed_in_tasks(m, a, step_a, b, c, step_c, threads);
}

void multiply_add(const MatrixProduct<float>& product, const Workers& threads) {
    multiply_in_tasks(product, threads);
}
void multiply_add(const MatrixProduct<double>& product, const Workers& threads) {
    multiply_in_tasks(product, threads);
}
void multiply_add(const MatrixProduct<uint32_t>& product, const Workers& threads) {
    constexpr int64_t kWorthwhile = 1 << 16;
    if (is_thin(product) || product.m * product.k * product.n < kWorthwhile ||
        !multiply_small(product, threads)) {
        multiply_in_tasks(product, threads);
    }
}
void multiply_add(const MatrixProduct<uint64_t>& product, const Workers& threads) {
    multiply_in_tasks(product, threads);
}

}  // namespace sardonyx::eval
