#include "bindings/torch_program.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "torch/functional.h"
#include "torch/names.h"
#include "torch/output_specs.h"
#include "torch/outs.h"
#include "torch/place.h"
#include "torch/regions.h"
#include "torch/sizes.h"
#include "torch/storages.h"

namespace sardonyx::python {

namespace {

std::string text_at(nb::handle object, const char* name) {
    return text_from_python(nb::getattr(object, name));
}

std::optional<int64_t> int_or_none(nb::handle object) {
    return object.is_none() ? std::nullopt : std::optional(int_from_python(object));
}

using Facts = std::map<std::string, torch::TensorFacts, std::less<>>;

class Reader {
  public:
    explicit Reader(std::string torch_folder) : torch_folder_(std::move(torch_folder)) {
        nb::module_ module = nb::module_::import_("sardonyx.torch._program");
        ref_ = nb::getattr(module, "Ref");
        element_type_ = nb::getattr(module, "ElementType");
        body_ = nb::getattr(module, "Body");
    }

    torch::Program program(nb::handle from) {
        Facts facts;
        return program(from, facts);
    }

    torch::Program program(nb::handle from, Facts& facts) {
        torch::Program made;
        made.name = text_at(from, "name");
        std::map<std::string, Facts> facts_of_bodies;
        for (auto [name, body] : nb::cast<nb::dict>(nb::getattr(from, "bodies"))) {
            made.bodies.push_back(program(body, facts_of_bodies[text_from_python(name)]));
        }
        for (nb::handle one : nb::getattr(from, "inputs")) {
            made.inputs.push_back({text_at(one, "name"), text_at(one, "type"), storage(one)});
        }
        for (nb::handle one : nb::getattr(from, "weights")) {
            made.weights.push_back(
                {text_at(one, "name"), text_at(one, "key"), text_at(one, "type"), storage(one)});
        }
        for (nb::handle one : nb::getattr(from, "nodes")) {
            made.nodes.push_back(node(one));
        }
        for (nb::handle one : nb::getattr(from, "outputs")) {
            made.outputs.push_back(value(one));
        }
        for (nb::handle one : nb::getattr(from, "output_names")) {
            made.output_names.push_back(text_from_python(one));
        }
        for (nb::handle one : nb::getattr(from, "output_specs")) {
            made.output_specs.push_back({text_from_python(one[0]), text_from_python(one[1])});
        }
        for (nb::handle one : nb::getattr(from, "pairs")) {
            made.pairs.insert(text_from_python(one));
        }
        for (auto [name, bounds] : nb::cast<nb::dict>(nb::getattr(from, "bounds"))) {
            made.bounds[text_from_python(name)] = {int_or_none(bounds[0]), int_or_none(bounds[1])};
        }
        made.is_tuple = nb::cast<bool>(nb::getattr(from, "is_tuple"));
        made.is_model = nb::cast<bool>(nb::getattr(from, "is_model"));
        read_facts(from, facts);
        torch::open_regions(made, [&](const auto& body, const auto& name, const auto& now) {
            const Facts& of_body = facts_of_bodies[body];
            if (auto found = of_body.find(name); found != of_body.end()) {
                facts[now] = found->second;
            }
        });
        torch::add_problems(problems, torch::split_outs(made));
        use_facts(from, facts, made);
        return made;
    }

    std::shared_ptr<const torch::Place> place(nb::handle from) {
        std::shared_ptr<torch::Place>& made = places_[from.ptr()];
        if (made == nullptr) {
            made = std::make_shared<torch::Place>();
            made->module = text_at(from, "module");
            made->trace = text_at(from, "trace");
            for (nb::handle one : nb::getattr(from, "modules")) {
                made->modules.emplace_back(text_from_python(one[0]), text_from_python(one[1]));
            }
            torch::find_line(*made, torch_folder_);
        }
        return made;
    }

    std::vector<torch::Problem> problems;

  private:
    static int64_t storage(nb::handle from) {
        return nb::cast<int64_t>(nb::getattr(from, "storage"));
    }

    torch::Node node(nb::handle from) {
        torch::Node made;
        made.name = text_at(from, "name");
        made.target = text_at(from, "target");
        made.type = text_at(from, "type");
        made.writes = text_at(from, "writes");
        made.element_type = text_at(from, "element_type");
        made.place = place(nb::getattr(from, "place"));
        made.storage = storage(from);
        made.takes_pairs = nb::cast<bool>(nb::getattr(from, "takes_pairs"));
        made.is_twice = nb::cast<bool>(nb::getattr(from, "is_twice"));
        std::vector<torch::Value> args;
        for (nb::handle one : nb::getattr(from, "args")) {
            args.push_back(value(one));
        }
        for (auto [name, one] : nb::cast<nb::dict>(nb::getattr(from, "kwargs"))) {
            made.kwargs.emplace_back(text_from_python(name), value(one));
        }
        std::string higher_order = text_at(from, "higher_order");
        if (higher_order.empty()) {
            made.args = std::move(args);
            return made;
        }
        auto results = nb::cast<size_t>(nb::getattr(from, "results"));
        // What is left of these regions could not be traced with its casts.
        bool lacks_casts = higher_order == "wrap_with_autocast" && args.size() > 2 &&
                           args[2] == torch::Value::boolean(true);
        if (lacks_casts || !set_bodies(made, higher_order, std::move(args), results)) {
            problems.push_back(torch::without_bodies(made, higher_order));
        }
        return made;
    }

    torch::Value value(nb::handle from) {
        using Kind = torch::Value::Kind;
        if (from.is_none()) {
            return torch::Value::none();
        }
        if (PyBool_Check(from.ptr())) {
            return torch::Value::boolean(from.ptr() == Py_True);
        }
        if (PyLong_Check(from.ptr())) {
            int overflow = 0;
            int64_t number = PyLong_AsLongLongAndOverflow(from.ptr(), &overflow);
            if (overflow != 0) {
                raise(PyExc_OverflowError, "an integer of the program has more than 64 bits");
            }
            return torch::Value::number(number);
        }
        if (PyFloat_Check(from.ptr())) {
            return torch::Value::floating(PyFloat_AsDouble(from.ptr()));
        }
        if (PyUnicode_Check(from.ptr())) {
            return torch::Value::of(Kind::kString, text_from_python(from));
        }
        bool is_tuple = PyTuple_Check(from.ptr());
        if (is_tuple || PyList_Check(from.ptr())) {
            torch::Value made = torch::Value::of(is_tuple ? Kind::kTuple : Kind::kList);
            for (nb::handle one : from) {
                made.items.push_back(value(one));
            }
            return made;
        }
        nb::handle type = from.type();
        Kind kind = type.is(ref_)            ? Kind::kRef
                    : type.is(element_type_) ? Kind::kElementType
                    : type.is(body_)         ? Kind::kBody
                                             : Kind::kNone;
        if (kind == Kind::kNone) {
            raise(PyExc_TypeError, "an argument of a node that no program has");
        }
        return torch::Value::of(kind, text_at(from, "name"));
    }

    static void read_facts(nb::handle from, Facts& facts) {
        nb::object told = nb::getattr(from, "facts");
        if (told.is_none()) {
            return;
        }
        for (auto [name, one] : nb::cast<nb::dict>(told)) {
            facts[text_from_python(name)] = {sizes(one[0]), sizes(one[1]),
                                             nb::cast<int64_t>(one[2]), size(one[3])};
        }
    }

    // What sizes and strides tell: which tensors share memory, where torch does not say it, and
    // what `as_strided` reads.
    void use_facts(nb::handle from, const Facts& facts, torch::Program& made) {
        bool is_told = !nb::cast<bool>(nb::getattr(from, "numbers_storages"));
        bool is_strided = std::any_of(made.nodes.begin(), made.nodes.end(), [](const auto& one) {
            std::string_view packet = torch::packet_of(one.target);
            return packet.starts_with("as_strided") || packet == "_reshape_alias";
        });
        if (is_told && !is_strided) {
            return;
        }
        std::map<std::string, std::string, std::less<>> groups;
        for (auto [name, group] : nb::cast<nb::dict>(nb::getattr(from, "weight_groups"))) {
            groups[text_from_python(name)] = text_from_python(group);
        }
        auto facts_of = [&](std::string_view name) {
            auto found = facts.find(name);
            return found != facts.end() ? &found->second : nullptr;
        };
        torch::add_problems(
            problems, torch::settle_storages(
                          made, groups, facts_of,
                          is_told ? torch::MemoryTold::kStorages : torch::MemoryTold::kNothing));
    }

    // Numbers, and expressions as sympy.srepr writes them.
    static std::vector<torch::Size> sizes(nb::handle list) {
        std::vector<torch::Size> made;
        for (nb::handle one : list) {
            made.push_back(size(one));
        }
        return made;
    }
    static torch::Size size(nb::handle from) {
        if (PyLong_Check(from.ptr())) {
            return torch::Size(nb::cast<int64_t>(from));
        }
        std::string text = text_from_python(from);
        std::optional<torch::Size> size = torch::parse_size(text);
        return size ? *size : torch::Size::symbol(text);
    }

    std::string torch_folder_;
    nb::object ref_, element_type_, body_;
    std::unordered_map<PyObject*, std::shared_ptr<torch::Place>> places_;
};

}  // namespace

CapturedProgram captured_program(nb::handle program, const std::string& torch_folder) {
    Reader reader(torch_folder);
    CapturedProgram made;
    made.program = reader.program(program);
    for (nb::handle one : nb::getattr(program, "problems")) {
        made.problems.push_back({reader.place(nb::getattr(one, "place")), text_at(one, "reason"),
                                 text_at(one, "help")});
    }
    torch::add_problems(made.problems, reader.problems);
    torch::add_problems(made.problems, torch::change_statistics(made.program));
    torch::apply_output_specs(made.program);
    return made;
}

}  // namespace sardonyx::python
