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

void check_unread(const PyModel& self) {
    if (Result<void> unchanged = check_unchanged(self.state->files); !unchanged.ok()) {
        raise(unchanged.error());
    }
}

// The description without its nodes, and lists of some nodes each: Python ends the work between two
// texts that it reads, and not before the end of one.
nb::object info_of(const PyModel& self, const models::Sizes& sizes) {
    constexpr size_t kNodesOfText = 8192;
    MappedReading mapped(self.state->files);
    const ir::Model& model = settled(*self.state);
    Reading going_on(*self.state);
    std::vector<std::string> parts;
    auto json = stoppable([&]() -> Result<std::string> {
        SDX_ASSIGN(models::Info info, models::describe(model, sizes));
        std::vector<models::NodeInfo> nodes = std::exchange(info.nodes, {});
        for (size_t i = 0; i < nodes.size(); i += kNodesOfText) {
            size_t count = std::min(kNodesOfText, nodes.size() - i);
            parts.push_back(models::nodes_json(std::span(nodes).subspan(i, count)));
        }
        return models::info_json(info);
    });
    check_unread(self);
    if (!json.ok()) {
        raise(model_error(), json.error().message);
    }
    nb::list texts;
    for (const std::string& part : parts) {
        texts.append(text_to_python(part));
    }
    return nb::make_tuple(text_to_python(*json), texts);
}

nb::object diff_of(const PyModel& self, const PyModel& other, bool names) {
    MappedReading mapped(self.state->files), mapped_too(other.state->files);
    const ir::Model &a = settled(*self.state), &b = settled(*other.state);
    Reading going_on(*self.state), going_on_too(*other.state);
    std::string json = stoppable([&] { return models::diff_json(models::diff(a, b, {names})); });
    check_unread(self);
    check_unread(other);
    return text_to_python(json);
}

// The first difference between what the models compute; None: they are isomorphic.
nb::object first_difference(const PyModel& self, const PyModel& other) {
    MappedReading mapped(self.state->files), mapped_too(other.state->files);
    const ir::Model &a = settled(*self.state), &b = settled(*other.state);
    Reading going_on(*self.state), going_on_too(*other.state);
    std::string found = stoppable([&] { return driver::difference(a, b); });
    check_unread(self);
    check_unread(other);
    return found.empty() ? nb::none() : text_to_python(found);
}

// In one of the text forms.
nb::object text_of(const PyModel& self, const std::string& form) {
    MappedReading mapped(self.state->files);
    check_unread(self);
    const ir::Model& model = settled(*self.state);
    Reading going_on(*self.state);
    Result<std::string> text = stoppable([&]() -> Result<std::string> {
        SDX_ASSIGN(std::string bytes, proto::write_as_read(model, self.state->source));
        return proto::text_of_model(bytes, proto::form_of_name(form));
    });
    check_unread(self);
    if (!text.ok()) {
        raise(model_error(), text.error().message);
    }
    return text_to_python(*text);
}

nb::bytes bytes_of_text(const std::string& text, const std::string& form) {
    Result<std::string> bytes =
        stoppable([&] { return proto::bytes_of_text(text, proto::form_of_name(form)); });
    if (!bytes.ok()) {
        raise(model_error(), bytes.error().message);
    }
    return nb::bytes(bytes->data(), bytes->size());
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
