// Programs of PyTorch, captured or read from .pt2 files, as scripts; sardonyx.torch.convert is the
// Python function around it.
#include "bindings/torch_file.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <utility>

#include "bindings/tensor.h"
#include "bindings/torch_program.h"
#include "torch/autocast.h"
#include "torch/convert.h"
#include "torch/foreach.h"
#include "torch/functional.h"
#include "torch/guards.h"
#include "torch/names.h"
#include "torch/outline.h"
#include "torch/outs.h"
#include "torch/program.h"
#include "torch/vmap.h"

namespace sardonyx::python {

namespace {

// Overloads, and the modules and functions that they are.
using OwnNames = std::map<std::string, std::pair<std::string, std::string>>;

torch::OwnOperators own_operators(const OwnNames& names) {
    torch::OwnOperators own;
    for (const auto& [overload, name] : names) {
        own[overload] = {name.first, name.second, {}};
    }
    return own;
}

PyTorchProgram read_torch_file(const std::string& path, int64_t opset, const nb::dict& dims,
                               const std::string& state, std::vector<std::string> input_names,
                               std::vector<std::string> output_names, const OwnNames& own) {
    driver::TorchOptions options;
    options.state = state;
    options.input_names = std::move(input_names);
    options.output_names = std::move(output_names);
    for (auto [symbol, name] : dims) {
        options.dims[nb::cast<std::string>(symbol)] = nb::cast<std::string>(name);
    }
    options.own = own_operators(own);
    auto file = driver::read_torch_file(path, options);
    if (!file.ok()) {
        check_readable(path);
        raise(PyExc_ValueError, file.error().message);
    }
    return {std::move(*file), opset, {}};
}

PyTorchProgram capture_torch_program(nb::handle program, const std::string& torch_folder,
                                     int64_t opset, std::vector<std::string> input_names,
                                     std::vector<std::string> output_names, const OwnNames& own) {
    CapturedProgram captured = captured_program(program, torch_folder);
    driver::TorchOptions options;
    options.input_names = std::move(input_names);
    options.output_names = std::move(output_names);
    Result<void> named = driver::rename_ends(captured.program, options);
    if (!named.ok()) {
        raise(PyExc_ValueError, named.error().message);
    }
    PyTorchProgram made;
    made.file.program = std::move(captured.program);
    made.file.own = own_operators(own);
    made.opset = opset;
    made.problems = std::move(captured.problems);
    return made;
}

// ValueError: all reasons why there is no script.
void finish_program(PyTorchProgram& self, const std::string& state) {
    Result<torch::State> wanted = torch::state_of(state);
    Result<void> done = wanted.ok() ? torch::finish(self.file.program, std::move(self.problems),
                                                    *wanted, self.file.own)
                                    : Result<void>(wanted.error());
    self.problems.clear();
    self.script = nullptr;
    if (!done.ok()) {
        raise(PyExc_ValueError, done.error().message);
    }
}

// The same with these values as its results.
PyTorchProgram with_outputs(const PyTorchProgram& self, const std::vector<std::string>& names) {
    PyTorchProgram made = self;
    made.script = nullptr;
    made.file.program = torch::with_outputs(std::move(made.file.program), names);
    return made;
}

// The overload that computes what an in-place one writes, of those that are known.
std::string functional_overload(const std::string& overload, const nb::mapping& known) {
    return torch::functional_overload(overload, [&](std::string_view name) {
        return known.contains(nb::str(name.data(), name.size()));
    });
}

// Also those of the bodies in it.
void add_weights(const torch::Program& program, std::vector<std::string>& keys) {
    for (const torch::Weight& one : program.weights) {
        keys.push_back(one.key);
    }
    for (const torch::Program& body : program.bodies) {
        add_weights(body, keys);
    }
}

// The names of the arrays that the program uses.
std::vector<std::string> weights_of(const PyTorchProgram& self) {
    std::vector<std::string> keys;
    add_weights(self.file.program, keys);
    return keys;
}

// A node's name, what it calls, where that comes from, in words, and the code there.
nb::tuple row_of(const torch::Node& node) {
    const torch::Place none;
    const torch::Place& place = node.place != nullptr ? *node.place : none;
    return nb::make_tuple(text_to_python(node.name), text_to_python(node.target),
                          text_to_python(torch::words_of(place)), text_to_python(place.code));
}

// The rows of the nodes that give one tensor.
nb::list tensors_of(const PyTorchProgram& self) {
    nb::list rows;
    for (const torch::Node& node : self.file.program.nodes) {
        if (!node.type.empty()) {
            rows.append(row_of(node));
        }
    }
    return rows;
}

// The opset of a model for a release of ONNX Runtime.
int64_t torch_opset(const std::optional<std::string>& release, std::optional<int64_t> opset) {
    Result<driver::TorchTarget> target = driver::torch_target(release, opset);
    if (!target.ok()) {
        raise(PyExc_ValueError, target.error().message);
    }
    return target->opset;
}

nb::dict arrays_of(const PyTorchProgram& self) {
    nb::dict arrays;
    for (const auto& [name, tensor] : self.file.arrays) {
        arrays[text_to_python(name)] = make_tensor(Tensor(tensor));
    }
    return arrays;
}

nb::object text_of_program(const PyTorchProgram& self, const std::string& weights, bool outline) {
    if (weights.empty() && !outline) {
        return text_to_python(script_of(self).text);
    }
    torch::Script script = driver::script_of(self.file, self.opset, weights);
    return text_to_python(outline ? torch::outline(script) : script.text);
}

// For each line None, or the row of the node that it is.
nb::list lines_of(const PyTorchProgram& self) {
    nb::list lines;
    for (const torch::Node* node : script_of(self).lines) {
        lines.append(node == nullptr ? nb::object(nb::none()) : nb::object(row_of(*node)));
    }
    return lines;
}

}  // namespace

const torch::Script& script_of(const PyTorchProgram& program) {
    if (program.script == nullptr) {
        program.script = std::make_shared<const torch::Script>(
            driver::script_of(program.file, program.opset, ""));
    }
    return *program.script;
}

void bind_torch_file(nb::module_& m) {
    nb::class_<PyTorchProgram>(m, "TorchProgram")
        .def_prop_ro("arrays", arrays_of)
        .def_prop_ro("lines", lines_of)
        .def_prop_ro("weights", weights_of)
        .def_prop_ro("tensors", tensors_of)
        .def_prop_ro("size_warning",
                     [](const PyTorchProgram& self) { return self.file.size_warning; })
        .def_prop_ro("count",
                     [](const PyTorchProgram& self) { return self.file.program.nodes.size(); })
        .def_prop_ro("has_vmap_loops",
                     [](const PyTorchProgram& self) { return self.file.program.has_vmap_loops; })
        .def("finish", finish_program, nb::arg("state"))
        .def("with_outputs", with_outputs, nb::arg("names"))
        .def("text", text_of_program, nb::arg("weights"), nb::arg("outline") = false);
    m.def("read_torch_file", read_torch_file, nb::arg("path"), nb::arg("opset"), nb::arg("dims"),
          nb::arg("state"), nb::arg("input_names"), nb::arg("output_names"), nb::arg("own"));
    m.def("capture_torch_program", capture_torch_program, nb::arg("program"),
          nb::arg("torch_folder"), nb::arg("opset"), nb::arg("input_names"),
          nb::arg("output_names"), nb::arg("own"));
    m.def("torch_size_warning",
          [](const std::vector<std::string>& guards) { return torch::size_warning(guards); });
    m.def("is_name_in_script", torch::is_free_name, nb::arg("text"));
    m.def("functional_overload", functional_overload, nb::arg("overload"), nb::arg("known"));
    m.def("is_left_out", torch::is_left_out, nb::arg("argument"));
    m.def("means_nothing", torch::means_nothing, nb::arg("packet"));
    m.def("vmap_target", torch::vmap_target, nb::arg("name"));
    m.def("python_target", torch::python_target, nb::arg("name"));
    m.def("is_python_operation", torch::is_python_operation, nb::arg("name"));
    m.def("form_without_outs", torch::form_without_outs, nb::arg("overload"));
    m.def("is_of_lists", torch::is_of_lists, nb::arg("packet"));
    m.def("gives_statistics", torch::gives_statistics, nb::arg("overload"));
    m.def(
        "torch_autocast_policy",
        [](const std::string& device, const std::string& target) {
            return std::string(torch::autocast_policy(device, target));
        },
        nb::arg("device"), nb::arg("target"));
    m.def("torch_opset", torch_opset, nb::arg("target").none(), nb::arg("opset").none());
}

}  // namespace sardonyx::python
