#include "eval/loops/strided.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "eval/loops/clones.h"
#include "eval/loops/transpose.h"
#include "eval/loops/visit.h"
#include "eval/runtime/parallel.h"

namespace sardonyx::eval {

Error unsupported_type(ElementType type) {
    return Error{fmt::format("there is no kernel for element type {}", name(type))};
}

ElementType movable_type(ElementType type) {
    switch (info(type).bits) {
        case 8:
            return ElementType::kUint8;
        case 16:
            return ElementType::kUint16;
        case 32:
            return ElementType::kUint32;
        case 64:
            return ElementType::kUint64;
        case 128:
            return ElementType::kComplex128;
        default:
            return type;
    }
}

Dims row_major_strides(std::span<const int64_t> dims) {
    Dims strides(dims.size());
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
        strides[d] = stride;
        // Beside a dim of 0 the others may be huge: no element is ever reached then.
        if (__builtin_mul_overflow(stride, dims[d], &stride)) {
            stride = 0;
        }
    }
    return strides;
}

int64_t product(std::span<const int64_t> dims) {
    int64_t count = 1;
    for (int64_t dim : dims) {
        if (__builtin_mul_overflow(count, dim, &count)) {
            return 0;
        }
    }
    return count;
}

Result<Dims> broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b) {
    size_t rank = std::max(a.size(), b.size());
    Dims dims(rank);
    for (size_t d = 0; d < rank; ++d) {
        int64_t left = d + a.size() < rank ? 1 : a[d + a.size() - rank];
        int64_t right = d + b.size() < rank ? 1 : b[d + b.size() - rank];
        if (left != right && left != 1 && right != 1) {
            return Error{fmt::format("shapes {} and {} do not broadcast: {} against {}",
                                     to_string(a), to_string(b), left, right)};
        }
        dims[d] = left == 1 ? right : left;
    }
    return dims;
}

Dims broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> target) {
    Dims own = row_major_strides(dims);
    Dims strides(target.size(), 0);
    size_t shift = target.size() - dims.size();
    for (size_t d = 0; d < dims.size(); ++d) {
        strides[d + shift] = dims[d] == 1 ? 0 : own[d];
    }
    return strides;
}

AxisView axis_view(std::span<const int64_t> dims, int first, int last) {
    return {product(dims.first(first)), product(dims.subspan(first, last - first)),
            product(dims.subspan(last))};
}

AxisView axis_view(std::span<const int64_t> dims, int axis) {
    return axis_view(dims, axis, axis + 1);
}

namespace {

// Bytes that make a task; so few are copied where they are.
constexpr int64_t kTaskBytes = 1 << 16;

// Two axes of a strided copy: the innermost one, whose elements are the columns, and another.
struct Panel {
    int64_t rows, columns;
    int64_t in_row, in_column;  // strides
    int64_t out_row, out_column;
};

// Rows of the source become columns, block by block: a block is as wide as a line of the cache, so
// that a line is done with soon after it was first touched.
template <typename T>
[[gnu::always_inline]] inline void transpose_panel(const Panel& p, const T* in, T* out) {
    constexpr int kLanes = sizeof(T) == 1 ? 16 : sizeof(T) == 8 ? 4 : sizeof(T) > 8 ? 1 : 8;
    constexpr int64_t kLine = sizeof(T) > 8 ? 4 : 64 / sizeof(T);
    for (int64_t row = 0; row < p.rows; row += kLine) {
        int64_t rows = std::min(kLine, p.rows - row);
        int64_t columns = std::min<int64_t>(kLanes, p.columns);
        for (int64_t column = 0; column < p.columns; column += kLanes) {
            int64_t first = std::min(column, p.columns - columns);
            transpose<kLanes>(in + first * p.in_column + row, p.in_column, columns, rows,
                              out + row * p.out_row + first, p.out_row);
        }
    }
}

// kColumns runs of the source, their elements in turns.
template <int kColumns, typename T>
[[gnu::always_inline]] inline void interleave_runs(const Panel& p, const T* __restrict in,
                                                   T* __restrict out) {
    for (int64_t row = 0; row < p.rows; ++row) {
        for (int k = 0; k < kColumns; ++k) {
            out[row * kColumns + k] = in[k * p.in_column + row];
        }
    }
}

// Rows whose elements stand kStep apart in the source.
template <int kStep, typename T>
[[gnu::always_inline]] inline void copy_steps(const Panel& p, const T* in, T* out) {
    for (int64_t row = 0; row < p.rows; ++row) {
        const T* __restrict from = in + row * p.in_row;
        T* __restrict to = out + row * p.out_row;
        for (int64_t i = 0; i < p.columns; ++i) {
            to[i] = from[i * kStep];
        }
    }
}

template <typename T>
SDX_CLONES void copy_panel(const Panel& p, const T* in, T* out) {
    if constexpr (!std::is_same_v<T, std::string>) {
        if (p.out_column == 1 && p.in_column == 1) {
            for (int64_t row = 0; row < p.rows; ++row) {
                std::memcpy(out + row * p.out_row, in + row * p.in_row, p.columns * sizeof(T));
            }
            return;
        }
        if (p.out_column == 1 && p.in_column == 0) {
            for (int64_t row = 0; row < p.rows; ++row) {
                std::fill_n(out + row * p.out_row, p.columns, in[row * p.in_row]);
            }
            return;
        }
        if (p.out_column == 1 && p.in_row == 1 && p.rows >= 4 && p.columns >= 4) {
            transpose_panel(p, in, out);
            return;
        }
        if (p.out_column == 1 && p.in_row == 1 && p.out_row == p.columns) {
            switch (p.columns) {
                case 2:
                    interleave_runs<2>(p, in, out);
                    return;
                case 3:
                    interleave_runs<3>(p, in, out);
                    return;
                default:
                    break;
            }
        }
        if (p.out_column == 1) {
            switch (p.in_column) {
                case -1:
                    copy_steps<-1>(p, in, out);
                    return;
                case 2:
                    copy_steps<2>(p, in, out);
                    return;
                case 3:
                    copy_steps<3>(p, in, out);
                    return;
                default:
                    break;
            }
        }
    }
    for (int64_t row = 0; row < p.rows; ++row) {
        const T* from = in + row * p.in_row;
        T* to = out + row * p.out_row;
        for (int64_t i = 0; i < p.columns; ++i) {
            to[i * p.out_column] = from[i * p.in_column];
        }
    }
}

// The axis beside the innermost one: along which the source has its neighbours, if that is not the
// innermost one itself. -1: there is no other.
int second_axis(const Dims& in_strides) {
    int last = static_cast<int>(in_strides.size()) - 1;
    int second = last - 1;
    int64_t least = std::abs(in_strides[last]);
    for (int d = last; d-- > 0;) {
        if (in_strides[d] != 0 && std::abs(in_strides[d]) < least) {
            least = std::abs(in_strides[d]);
            second = d;
        }
    }
    return second;
}

// A copy cut into panels of about kPanel elements: the places along all axes but the two of the
// panels, and the pieces of those two.
struct PanelCopy {
    Panel panel;        // the whole of the two axes
    int64_t row_piece;  // rows and columns of a piece
    int64_t column_piece;
    // By axis, the pieces of rows and of columns last: how many, and how far apart.
    Dims counts, in_steps, out_steps;

    PanelCopy(const StridedWalk<2>& walk, int64_t width) {
        const auto& [in, out] = walk.strides;
        int last = static_cast<int>(walk.dims.size()) - 1;
        int second = second_axis(in);
        panel = {1, walk.dims[last], 0, in[last], 0, out[last]};
        if (second >= 0) {
            panel.rows = walk.dims[second];
            panel.in_row = in[second];
            panel.out_row = out[second];
        }
        for (int d = 0; d < last; ++d) {
            if (d != second) {
                add(walk.dims[d], in[d], out[d]);
            }
        }
        // Pieces of a transposition are squares; other rows are as long as possible.
        constexpr int64_t kSide = 64;
        int64_t elements = kTaskBytes / width;
        bool is_transposed = panel.in_row == 1 && panel.in_column != 1;
        int64_t longest = is_transposed ? 4 * kSide : elements;
        column_piece = std::min(panel.columns, std::max(longest, elements / panel.rows));
        row_piece =
            std::min(panel.rows, std::max(is_transposed ? kSide : 1, elements / column_piece));
        column_piece = (column_piece + kSide - 1) / kSide * kSide;
        add((panel.rows + row_piece - 1) / row_piece, row_piece * panel.in_row,
            row_piece * panel.out_row);
        add((panel.columns + column_piece - 1) / column_piece, column_piece * panel.in_column,
            column_piece * panel.out_column);
    }

    // Calls body(part of the panel, offset in the source, in the target) for pieces [begin, end).
    template <typename Body>
    void for_each_piece(int64_t begin, int64_t end, const Body& body) const {
        size_t rank = counts.size();
        Dims index(rank);
        int64_t in = 0, out = 0;
        int64_t rest = begin;
        for (size_t d = rank; d-- > 0; rest /= counts[d]) {
            index[d] = rest % counts[d];
            in += index[d] * in_steps[d];
            out += index[d] * out_steps[d];
        }
        for (int64_t i = begin; i < end; ++i) {
            Panel part = panel;
            part.rows = std::min(row_piece, panel.rows - index[rank - 2] * row_piece);
            part.columns = std::min(column_piece, panel.columns - index[rank - 1] * column_piece);
            body(part, in, out);
            for (size_t d = rank; d-- > 0;) {
                in += in_steps[d];
                out += out_steps[d];
                if (++index[d] < counts[d]) {
                    break;
                }
                index[d] = 0;
                in -= counts[d] * in_steps[d];
                out -= counts[d] * out_steps[d];
            }
        }
    }

  private:
    void add(int64_t count, int64_t in_step, int64_t out_step) {
        counts.push_back(count);
        in_steps.push_back(in_step);
        out_steps.push_back(out_step);
    }
};

}  // namespace

void copy_strided(const Workers& threads, const Tensor& source, const ViewGeometry& from,
                  Tensor& target, const ViewGeometry& to, std::span<const int64_t> dims) {
    StridedWalk<2> walk(dims, {from.strides, to.strides});
    if (walk.dims[0] == 0) {
        return;
    }
    Status status = visit_width(source.element_type(), [&]<typename T>() -> Status {
        const T* in = source.elements<T>().data() + from.offset;
        T* out = target.mutable_elements<T>().data() + to.offset;
        PanelCopy copy(walk, sizeof(T));
        int64_t bytes = static_cast<int64_t>(sizeof(T)) * copy.row_piece *
                        std::min(copy.column_piece, copy.panel.columns);
        int64_t pieces = std::max<int64_t>(1, kTaskBytes / bytes);
        parallel_for(threads, product(copy.counts), pieces, [&](int64_t begin, int64_t end) {
            copy.for_each_piece(begin, end, [&](const Panel& part, int64_t source_at, int64_t at) {
                copy_panel(part, in + source_at, out + at);
            });
        });
        return {};
    });
    SDX_CHECK(status.ok());
}

Result<Tensor> gather_view(const KernelContext& c, const Tensor& source, const ViewGeometry& from,
                           Dims dims) {
    Dims strides = row_major_strides(dims);
    SDX_ASSIGN(Tensor target, c.scratch(source.element_type(), dims));
    copy_strided(c.threads(), source, from, target, {0, std::move(strides)}, dims);
    return target;
}

Result<Tensor> transposed(const KernelContext& c, const Tensor& source,
                          std::span<const int> permutation) {
    Dims own = row_major_strides(source.dims());
    Dims dims(permutation.size());
    ViewGeometry from;
    from.strides.resize(permutation.size());
    for (size_t d = 0; d < permutation.size(); ++d) {
        dims[d] = source.dims()[permutation[d]];
        from.strides[d] = own[permutation[d]];
    }
    return gather_view(c, source, from, std::move(dims));
}

void copy_elements(const Tensor& source, int64_t source_start, Tensor& target, int64_t target_start,
                   int64_t count) {
    if (count == 0) {
        return;
    }
    if (source.element_type() == ElementType::kString) {
        auto in = source.elements<std::string>().subspan(source_start, count);
        std::copy(in.begin(), in.end(),
                  target.mutable_elements<std::string>().begin() + target_start);
        return;
    }
    size_t width = info(source.element_type()).bits / 8;
    std::memcpy(target.mutable_bytes().data() + target_start * width,
                source.bytes().data() + source_start * width, count * width);
}

void fill_zero(Tensor& tensor) {
    if (tensor.element_type() == ElementType::kString) {
        for (std::string& text : tensor.mutable_elements<std::string>()) {
            text.clear();
        }
        return;
    }
    std::span<std::byte> bytes = tensor.mutable_bytes();
    if (!bytes.empty()) {
        std::memset(bytes.data(), 0, bytes.size());
    }
}

}  // namespace sardonyx::eval
