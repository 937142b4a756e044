// Files of weights as tensors; sardonyx.load_weights is the Python function around it.
#include "weights/weights.h"

#include "bindings/interrupt.h"
#include "bindings/tensor.h"

namespace sardonyx::python {

namespace {

nb::dict read_weights(const std::string& path) {
    nb::dict tensors;
    auto read = stoppable([&] { return weights::read_weights(path); });
    if (!read.ok()) {
        check_readable(path);
    }
    for (auto& [name, tensor] : unwrap(std::move(read))) {
        tensors[text_to_python(name)] = make_tensor(std::move(tensor));
    }
    return tensors;
}

uint64_t hash_of_weights(const nb::dict& tensors) {
    weights::NamedTensors named;
    for (auto [name, value] : tensors) {
        named.emplace_back(text_from_python(name), tensor_from_python(value));
    }
    return weights::content_hash(named);
}

}  // namespace

void bind_weights(nb::module_& m) {
    m.def("read_weights", read_weights, nb::arg("path"));
    m.def("hash_of_weights", hash_of_weights, nb::arg("tensors"));
}

}  // namespace sardonyx::python
