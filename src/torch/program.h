// An exported program as plain data: what an ExportedProgram and a .pt2 file have in common.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/dim_expression.h"

namespace sardonyx::torch {

// An argument of a node.
struct Value {
    enum class Kind : uint8_t {
        kNone,
        kBool,
        kInt,
        kFloat,
        kString,
        kRef,          // a value, by its name
        kElementType,  // by ONNX's name
        kBody,         // a program inside the program, by its name
        kList,
        kTuple,
    };

    Kind kind = Kind::kNone;
    int64_t integer = 0;
    double real = 0;
    std::string text;
    std::vector<Value> items;

    static Value of(Kind kind, std::string text = {}) {
        Value value;
        value.kind = kind;
        value.text = std::move(text);
        return value;
    }
    static Value none() { return {}; }
    static Value boolean(bool truth) {
        Value value = of(Kind::kBool);
        value.integer = truth ? 1 : 0;
        return value;
    }
    static Value number(int64_t number) {
        Value value = of(Kind::kInt);
        value.integer = number;
        return value;
    }
    static Value floating(double number) {
        Value value = of(Kind::kFloat);
        value.real = number;
        return value;
    }
    static Value ref(std::string name) { return of(Kind::kRef, std::move(name)); }
    static Value list(std::vector<Value> items) {
        Value value = of(Kind::kList);
        value.items = std::move(items);
        return value;
    }
    bool is(Kind wanted) const { return kind == wanted; }
    bool is_ref() const { return kind == Kind::kRef; }
    bool is_sequence() const { return kind == Kind::kList || kind == Kind::kTuple; }
    friend bool operator==(const Value&, const Value&) = default;
};

// Where a node comes from.
struct Place {
    std::string file;
    int64_t line = 0;
    std::string code;
    std::string module;  // its path, such as `layers.3.attention`
    // The modules around it, outermost first: their paths and classes.
    std::vector<std::pair<std::string, std::string>> modules;
    std::string trace;  // what torch has noted of the calls that led to it
};
// "mlp.py:12 in layers.3"; empty: it has no place in a file.
std::string words_of(const Place& place);

// A call; `target` is such as `aten::add.Tensor`, `py::mul`, `hop::cond`.
struct Node {
    std::string name;
    std::string target;
    std::vector<Value> args;
    std::vector<std::pair<std::string, Value>> kwargs;
    std::string type;                    // of the one tensor that it gives; empty: not known
    std::shared_ptr<const Place> place;  // null: it has none
    // What the result lies in, where it is a tensor; views have the storage of their base.
    int64_t storage = 0;
    std::string writes;  // the value that it changes in place
    std::string into;    // the value whose element type the result gets
    std::string element_type;
    bool takes_pairs = false;  // a complex tensor is among its arguments or results
    bool is_twice = false;     // it is called for the real and for the imaginary parts
};

// A node that cannot be converted: why, and what to write.
struct Problem {
    std::shared_ptr<const Place> place;
    std::string reason;
    std::string help;
};
std::string words_of(const Problem& problem);
void add_problems(std::vector<Problem>& problems, std::vector<Problem> more);

// The type of a parameter that is an int of Python.
inline constexpr std::string_view kIntInput = "int";

// A parameter of the program.
struct Input {
    std::string name;
    std::string type;
    int64_t storage = 0;
};

// A value that stands for an array, and the name of that.
struct Weight {
    std::string name;
    std::string key;
    std::string type;
    int64_t storage = 0;
};

// What torch says of an output: that it is the user's, or the new value of an input or a weight.
struct OutputSpec {
    std::string kind;    // in the words of .pt2 files, such as `user_output`, `buffer_mutation`
    std::string target;  // the name of the input, or the key of the weight, that it changes
};

struct Program {
    std::string name;
    std::vector<Input> inputs;
    std::vector<Weight> weights;
    std::vector<Node> nodes;
    std::vector<Value> outputs;
    std::vector<std::string> output_names;
    std::vector<OutputSpec> output_specs;  // one for each output, or none: all are the user's
    std::map<std::string, std::string, std::less<>> input_names;  // that the user wants
    bool is_tuple = true;                                         // it returns a tuple, also of one
    bool is_model = false;        // it is the whole: its results are the outputs of a model
    bool has_vmap_loops = false;  // calls of torch.vmap have become loops
    std::vector<Program> bodies;
    // The values that are complex: pairs of their real and imaginary parts.
    std::set<std::string, std::less<>> pairs;
    // Of names of dimensions; torch takes 0 and 1 where the lower one is 2.
    std::map<std::string, DimBounds, std::less<>> bounds;
};

// Whether it, or a body in it, has arrays.
bool has_weights(const Program& program);

// `FLOAT` of the type `FLOAT[2, "n"]`.
std::string_view element_type_of(std::string_view type);
// `add` of `aten::add.Tensor`.
std::string_view packet_of(std::string_view target);
// `aten` of it.
std::string_view space_of(std::string_view target);
// Whether it reads a shape, which both parts of a complex tensor have.
bool reads_shape(std::string_view target);

// The names of the values in an argument, in their order.
template <typename Visit>
void each_ref(const Value& value, const Visit& visit) {
    if (value.is_ref()) {
        visit(value.text);
    }
    for (const Value& item : value.items) {
        each_ref(item, visit);
    }
}
// The same of the arguments of a node.
template <typename Visit>
void each_argument_ref(const Node& node, const Visit& visit) {
    for (const Value& one : node.args) {
        each_ref(one, visit);
    }
    for (const auto& [name, one] : node.kwargs) {
        each_ref(one, visit);
    }
}

// Gives the values in an argument other names.
template <typename NameOf>
void rename(Value& value, const NameOf& name_of) {
    if (value.is_ref()) {
        value.text = name_of(value.text);
    }
    for (Value& item : value.items) {
        rename(item, name_of);
    }
}
template <typename NameOf>
void rename_arguments(Node& node, const NameOf& name_of) {
    for (Value& one : node.args) {
        rename(one, name_of);
    }
    for (auto& [name, one] : node.kwargs) {
        rename(one, name_of);
    }
}

// The name, or the name and underscores where it is taken; it is taken then.
template <typename Names>
std::string fresh_name(Names& taken, std::string name) {
    while (!taken.insert(name).second) {
        name += '_';
    }
    return name;
}

// Nodes without effect: what checks, and what tells the compiler of torch something.
bool means_nothing(std::string_view packet);
// Arguments that mean nothing in a graph.
bool is_left_out(std::string_view argument);
// Whether an operator writes into its first argument.
bool writes_in_place(std::string_view target);
// Whether it writes into its argument `out`, such as `add.out` and `add.Scalar_out`, or into
// several.
bool has_out(std::string_view target);
inline constexpr std::string_view kOut = "out";
// What a function of Python's numbers, such as `sym_not` or `mul`, is called in programs.
std::string python_target(std::string_view name);

// Whether the node calls the body of this name.
bool calls_body(const Node& node, std::string_view name);
// Makes the node the operator of this name, which has bodies; false: there is none.
bool set_bodies(Node& node, std::string_view name, std::vector<Value> args, size_t results);
// The program with these of its values as results.
Program with_outputs(Program program, const std::vector<std::string>& names);
// What is said of a node whose operator of this name, which has bodies, has no translation.
Problem without_bodies(const Node& node, std::string_view name);

}  // namespace sardonyx::torch
