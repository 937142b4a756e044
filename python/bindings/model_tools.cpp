// The description of a model and the differences between two models, as JSON, and models as text;
// used by Model.info, Model.diff and Model.to_text.
#include <algorithm>
#include <span>
#include <utility>

#include "bindings/interrupt.h"
#include "bindings/model.h"
#include "driver/decompile.h"
#include "models/diff.h"
#include "models/info.h"
#include "proto/proto.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace sardonyx::python {

namespace {

// The description without its nodes, and lists of some nodes each: Python ends the work between two
// texts that it reads, and not before the end of one.
nb::object info_of(const PyModel& self, const models::Sizes& sizes) {
    constexpr size_t kNodesOfText = 8192;
    std::vector<std::string> parts;
    auto json = read_model(*self.state, [&](const ir::Model& model) -> Result<std::string> {
        SDX_ASSIGN(models::Info info, models::describe(model, sizes));
        std::vector<models::NodeInfo> nodes = std::exchange(info.nodes, {});
        for (size_t i = 0; i < nodes.size(); i += kNodesOfText) {
            size_t count = std::min(kNodesOfText, nodes.size() - i);
            parts.push_back(models::nodes_json(std::span(nodes).subspan(i, count)));
        }
        return models::info_json(info);
    });
    nb::list texts;
    for (const std::string& part : parts) {
        texts.append(text_to_python(part));
    }
    return nb::make_tuple(text_to_python(edited(std::move(json))), texts);
}

nb::object diff_of(const PyModel& self, const PyModel& other, bool names) {
    return text_to_python(read_models(self, other, [&](const ir::Model& a, const ir::Model& b) {
        return models::diff_json(models::diff(a, b, {names}));
    }));
}

// The first difference between what the models compute; None: they are isomorphic.
nb::object first_difference(const PyModel& self, const PyModel& other) {
    std::string found = read_models(self, other, driver::difference);
    return found.empty() ? nb::none() : text_to_python(found);
}

// In one of the text forms.
nb::object text_of(const PyModel& self, const std::string& form) {
    auto text = read_model(*self.state, [&](const ir::Model& model) -> Result<std::string> {
        SDX_ASSIGN(std::string bytes, proto::write_as_read(model, self.state->source));
        return proto::text_of_model(bytes, proto::form_of_name(form));
    });
    return text_to_python(edited(std::move(text)));
}

nb::bytes bytes_of_text(const std::string& text, const std::string& form) {
    auto bytes = stoppable([&] { return proto::bytes_of_text(text, proto::form_of_name(form)); });
    std::string made = edited(std::move(bytes));
    return nb::bytes(made.data(), made.size());
}

}  // namespace

void bind_model_tools(nb::module_& m) {
    m.def("model_text", text_of, nb::arg("model"), nb::arg("form"));
    m.def("bytes_of_text", bytes_of_text, nb::arg("text"), nb::arg("form"));
    m.def("model_info", info_of, nb::arg("model"), nb::arg("dims"));
    m.def("first_difference", first_difference, nb::arg("model"), nb::arg("other"));
    m.def("model_diff", diff_of, nb::arg("model"), nb::arg("other"), nb::arg("names"));
}

}  // namespace sardonyx::python
