// Room for intermediate elements, out of the storage that tensors have left behind.
#pragma once

#include <cstdint>

#include "types/tensor.h"

namespace sardonyx::eval {

// `count` indeterminate elements.
template <typename S>
class Scratch {
  public:
    explicit Scratch(int64_t count)
        : bytes_(Tensor::uninitialized(ElementType::kUint8,
                                       {count * static_cast<int64_t>(sizeof(S))})) {}

    const S* data() const { return reinterpret_cast<const S*>(bytes_.bytes().data()); }
    S* data() { return reinterpret_cast<S*>(bytes_.mutable_bytes().data()); }

  private:
    Tensor bytes_;
};

}  // namespace sardonyx::eval
