#include "eval/loops/reduction.h"

#include <algorithm>

namespace sardonyx::eval {

int64_t reduced_count(const Dims& dims, const std::vector<int>& axes) {
    Dims reduced;
    for (int axis : axes) {
        reduced.push_back(dims[axis]);
    }
    return product(reduced);
}

Dims kept_dims(const Dims& dims, const std::vector<int>& axes, bool keepdims) {
    Dims kept;
    size_t next = 0;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
        if (next < axes.size() && axes[next] == d) {
            ++next;
            if (keepdims) {
                kept.push_back(1);
            }
        } else {
            kept.push_back(dims[d]);
        }
    }
    return kept;
}

Result<Rows> gather_rows(const KernelContext& c, const Tensor& source, const std::vector<int>& axes,
                         bool keepdims) {
    Rows rows;
    std::vector<int> order;
    for (int d = 0; d < source.rank(); ++d) {
        if (!std::binary_search(axes.begin(), axes.end(), d)) {
            order.push_back(d);
        }
    }
    rows.kept = kept_dims(source.dims(), axes, keepdims);
    rows.count = product(rows.kept);
    rows.n = reduced_count(source.dims(), axes);
    order.insert(order.end(), axes.begin(), axes.end());
    if (std::is_sorted(order.begin(), order.end()) || source.count() == 0) {
        rows.data = source;
    } else {
        SDX_ASSIGN(rows.data, transposed(c, source, order));
    }
    return rows;
}

}  // namespace sardonyx::eval
