// .pt2 files of PyTorch, read into scripts; sardonyx.torch.convert is the Python function around
// it.
#include "driver/torch_file.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <utility>

#include "bindings/tensor.h"
#include "torch/program.h"

namespace sardonyx::python {

namespace {

// Overloads, and the modules and functions that they are.
using OwnNames = std::map<std::string, std::pair<std::string, std::string>>;

struct PyTorchFile {
    driver::TorchFile file;
    int64_t opset = 0;
};

PyTorchFile read_torch_file(const std::string& path, int64_t opset, const nb::dict& dims,
                            const std::string& state, std::vector<std::string> input_names,
                            std::vector<std::string> output_names, const OwnNames& own) {
    driver::TorchOptions options;
    options.state = state;
    options.input_names = std::move(input_names);
    options.output_names = std::move(output_names);
    for (auto [symbol, name] : dims) {
        options.dims[nb::cast<std::string>(symbol)] = nb::cast<std::string>(name);
    }
    for (const auto& [overload, names] : own) {
        options.own[overload] = {names.first, names.second, {}};
    }
    auto file = driver::read_torch_file(path, options);
    if (!file.ok()) {
        check_readable(path);
        raise(PyExc_ValueError, file.error().message);
    }
    return {std::move(*file), opset};
}

// The opset of a model for a release of ONNX Runtime.
int64_t runtime_opset(const std::string& text, std::optional<int64_t> opset) {
    Result<driver::TorchTarget> target = driver::torch_target(text, opset);
    if (!target.ok()) {
        raise(PyExc_ValueError, target.error().message);
    }
    return target->opset;
}

nb::dict arrays_of(const PyTorchFile& self) {
    nb::dict arrays;
    for (const auto& [name, tensor] : self.file.arrays) {
        arrays[text_to_python(name)] = make_tensor(Tensor(tensor));
    }
    return arrays;
}

nb::object text_of(const PyTorchFile& self, const std::string& weights) {
    return text_to_python(driver::script_of(self.file, self.opset, weights).text);
}

// For each line None, or what it calls, and the file, line, code and module that this comes from.
nb::list lines_of(const PyTorchFile& self) {
    nb::list lines;
    for (const torch::Node* node : driver::script_of(self.file, self.opset, "").lines) {
        if (node == nullptr) {
            lines.append(nb::none());
            continue;
        }
        const torch::Place none;
        const torch::Place& place = node->place != nullptr ? *node->place : none;
        lines.append(nb::make_tuple(text_to_python(node->target), text_to_python(place.file),
                                    place.line, text_to_python(place.code),
                                    text_to_python(place.module)));
    }
    return lines;
}

nb::dict metadata_of(const PyTorchFile& self) {
    nb::dict lines;
    torch::Script script = driver::script_of(self.file, self.opset, "");
    for (const auto& [line, metadata] : driver::metadata_of(script)) {
        nb::dict of_line;
        for (const auto& [key, value] : metadata) {
            of_line[text_to_python(key)] = text_to_python(value);
        }
        lines[nb::int_(line)] = of_line;
    }
    return lines;
}

}  // namespace

void bind_torch_file(nb::module_& m) {
    nb::class_<PyTorchFile>(m, "TorchFile")
        .def_prop_ro("arrays", arrays_of)
        .def_prop_ro("lines", lines_of)
        .def_prop_ro("metadata", metadata_of)
        .def_prop_ro("count",
                     [](const PyTorchFile& self) { return self.file.program.nodes.size(); })
        .def("text", text_of, nb::arg("weights"));
    m.def("read_torch_file", read_torch_file, nb::arg("path"), nb::arg("opset"), nb::arg("dims"),
          nb::arg("state"), nb::arg("input_names"), nb::arg("output_names"), nb::arg("own"));
    m.def("runtime_opset", runtime_opset, nb::arg("target"), nb::arg("opset").none());
}

}  // namespace sardonyx::python
