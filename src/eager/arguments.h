// The arguments of a call: bound to the inputs and attributes of the schema (calls/check.h says
// which), and converted, literals last, because the tensors beside them settle their types.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calls/check.h"
#include "eager/call.h"
#include "eager/surface.h"
#include "ops/standard.h"

namespace sardonyx::eager {

// Where the lists of a call lie: most have few inputs, and need no heap.
struct CallMemory {
    std::array<std::byte, 1024> buffer;
    std::pmr::monotonic_buffer_resource resource{buffer.data(), buffer.size()};
};

// The function that a surface gives for an attribute that is a graph.
template <typename Surface>
struct BodyArgument {
    std::string_view attribute;  // of the schema
    typename Surface::Argument body;
};

template <typename Surface>
class Arguments {
  public:
    using Argument = typename Surface::Argument;

    Arguments(const ops::Schema& schema, size_t count, CallMemory& memory)
        : schema_(schema), inputs_(&memory.resource) {
        inputs_.reserve(count + 2);
    }

    // The next one by position.
    void add(Argument value) { inputs_.push_back(value); }
    void add(std::string_view keyword, Argument value) {
        calls::Place place = calls::place_of(schema_, keyword);
        if (place.input) {
            set_input(*place.input, value);
        } else if (place.attribute == nullptr) {
            Surface::refuse(Wrong::kType, calls::unknown_keyword(schema_, keyword).text());
        } else if (place.attribute->type == ops::AttributeType::kGraph) {
            bodies_.push_back({place.attribute->name, value});
        } else if (Surface::is_given(value)) {
            attributes_.push_back(Surface::attribute(*place.attribute, value));
        }
    }
    // When all have been added. Refuses a call that lacks something, or has too much.
    void finish() {
        auto problem =
            calls::check_inputs(schema_, inputs_.size(), [this](size_t i) { return is_value(i); });
        if (problem) {
            Surface::refuse(Wrong::kType, problem->text());
        }
        calls::check_required(
            schema_, [this](std::string_view name) { return has_attribute(name); },
            [](const calls::Problem& missing) { Surface::refuse(Wrong::kType, missing.text()); });
        while (!inputs_.empty() && !is_value(inputs_.size() - 1)) {
            inputs_.pop_back();
        }
    }

    std::span<const Argument> inputs() const { return inputs_; }
    const std::vector<ir::Attribute>& attributes() const { return attributes_; }
    const std::vector<BodyArgument<Surface>>& bodies() const { return bodies_; }

  private:
    static bool is_given(const Argument& value) {
        return Surface::is_there(value) && Surface::is_given(value);
    }
    // Where an optional value may stand, None is one that is absent.
    bool is_value(size_t i) const {
        const ops::Parameter* parameter = schema_.input(i);
        if (is_given(inputs_[i]) || parameter == nullptr) {
            return is_given(inputs_[i]);
        }
        const ops::TypeSet& types = schema_.type_variables[parameter->type_variable].types;
        return Surface::is_there(inputs_[i]) &&
               (types.optional_tensor | types.optional_sequence) != 0;
    }
    bool has_attribute(std::string_view name) const {
        for (const ir::Attribute& one : attributes_) {
            if (one.name == name) {
                return true;
            }
        }
        for (const BodyArgument<Surface>& one : bodies_) {
            if (one.attribute == name) {
                return Surface::is_given(one.body);
            }
        }
        return false;
    }
    void set_input(size_t index, Argument value) {
        inputs_.resize(std::max(inputs_.size(), index + 1));
        if (Surface::is_there(inputs_[index])) {
            Surface::refuse(Wrong::kType, calls::given_twice(schema_, index).text());
        }
        inputs_[index] = value;
    }

    const ops::Schema& schema_;
    std::pmr::vector<Argument> inputs_;
    std::vector<ir::Attribute> attributes_;
    std::vector<BodyArgument<Surface>> bodies_;
};

inline const RuntimeValue kLeftOut;

struct Inputs {
    explicit Inputs(CallMemory& memory) : values(&memory.resource), made(&memory.resource) {}

    std::pmr::vector<const RuntimeValue*> values;  // of the caller's objects, or of `made`
    std::pmr::list<RuntimeValue> made;
    bool has_tensor = false;  // an object of the surface's tensors is among them

    template <typename Value>
    void set(size_t index, Value&& value) {
        values[index] = &made.emplace_back(std::forward<Value>(value));
    }
};

// What stands for an input that is neither a tensor object nor a literal.
template <typename Surface>
void convert_other(const ops::Schema& schema, size_t i, typename Surface::Argument argument,
                   Inputs& result) {
    const ops::Parameter& parameter = *schema.input(i);
    const ops::TypeSet& types = schema.type_variables[parameter.type_variable].types;
    if (types.sequence != 0 || !Surface::is_list_of_tensors(argument)) {
        result.set(i, Surface::from_other(argument));
        result.has_tensor = result.has_tensor || Surface::is_tensor(argument);
        return;
    }
    if (parameter.option == ops::ParameterOption::kVariadic) {
        Surface::refuse(Wrong::kType, "a list of tensors as input `" + std::string(parameter.name) +
                                          "` of `" + std::string(schema.name) +
                                          "`, which takes them one by one: unpack it with `*`");
    }
    result.set(i, Surface::from_list_of_tensors(argument, wanted_type(schema, result.values, i)));
    result.has_tensor = result.has_tensor || Surface::is_tensor(argument);
}

// What is written down for Range is a scalar, as in a compiled script; a tensor that was computed
// may have the shape [1].
template <typename Surface>
void check_written_scalars(const ops::Schema& schema,
                           std::span<const typename Surface::Argument> inputs,
                           const Inputs& bound) {
    for (size_t i = 0; i < inputs.size(); ++i) {
        bool is_written = Surface::is_there(inputs[i]) && Surface::held(inputs[i]) == nullptr;
        if (is_written && bound.values[i]->is_tensor() && bound.values[i]->tensor().rank() != 0) {
            Surface::refuse(
                Wrong::kEvaluation,
                "input `" + std::string(schema.inputs[i].name) + "` of `Range` is of rank " +
                    std::to_string(bound.values[i]->tensor().rank()) + ", and must have rank 0");
        }
    }
}

// The values of arguments that are bound. Each literal has the type that the tensors settle.
template <typename Surface>
Inputs convert(const ops::Schema& schema, std::span<const typename Surface::Argument> inputs,
               CallMemory& memory) {
    Inputs result(memory);
    result.values.assign(inputs.size(), &kLeftOut);
    std::pmr::vector<size_t> literals(&memory.resource);
    // An empty list is a sequence where only a sequence can stand.
    auto is_literal = [&](size_t i) {
        const ops::TypeSet& types = schema.type_variables[schema.input(i)->type_variable].types;
        return Surface::is_literal(inputs[i]) &&
               (types.tensor != 0 || !Surface::is_list(inputs[i]));
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!Surface::is_there(inputs[i])) {
            continue;
        }
        if (const RuntimeValue* held = Surface::held(inputs[i])) {
            result.values[i] = held;
            result.has_tensor = true;
        } else if (is_literal(i)) {
            literals.push_back(i);
        } else {
            convert_other<Surface>(schema, i, inputs[i], result);
        }
    }
    std::pmr::vector<ElementType> types(&memory.resource);  // settled by tensors alone, so before
    for (size_t i : literals) {                             // any literal becomes one
        types.push_back(calls::literal_type(
            schema, inputs.size(), i, [&] { return Surface::literal_type(inputs[i]); },
            [&result](size_t other) { return element_type_of(*result.values[other]); }));
    }
    for (size_t i = 0; i < literals.size(); ++i) {
        result.set(literals[i], Surface::from_literal(inputs[literals[i]], types[i]));
    }
    if (ops::is_standard(schema, "Range")) {
        check_written_scalars<Surface>(schema, inputs, result);
    }
    return result;
}

}  // namespace sardonyx::eager
