#include "types/known_sizes.h"

#include <utility>

namespace sardonyx {

Type with_known_sizes(Type type) {
    if (type.is_tensor() && type.has_shape()) {
        Shape shape = type.shape();
        for (Dim& dim : shape) {
            dim = dim.is_static() ? dim : Dim();
        }
        type.set_shape(std::move(shape));
    }
    return type;
}

}  // namespace sardonyx
