#include "torch/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

#include "torch/names.h"
#include "types/annotation_dims.h"
#include "types/dim_expression.h"

namespace sardonyx::torch {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr Pair kInfix[] = {
    {"add", "+"},  {"sub", "-"},  {"mul", "*"}, {"truediv", "/"}, {"floordiv", "//"}, {"mod", "%"},
    {"pow", "**"}, {"eq", "=="},  {"ne", "!="}, {"lt", "<"},      {"le", "<="},       {"gt", ">"},
    {"ge", ">="},  {"and_", "&"}, {"or_", "|"}, {"lshift", "<<"}, {"rshift", ">>"}};
constexpr Pair kCalls[] = {{"sym_max", "max"},
                           {"sym_min", "min"},
                           {"sym_float", "float"},
                           {"sym_int", "int"},
                           {"abs", "abs"},
                           {"ceil", "math.ceil"},
                           {"floor", "math.floor"},
                           {"trunc", "math.trunc"},
                           {"sqrt", "math.sqrt"},
                           {"round", "round"},
                           {"sym_sqrt", "math.sqrt"},
                           {"max", "max"},
                           {"min", "min"},
                           {"sym_sum", "sum"}};
constexpr std::string_view kOthers[] = {"getitem", "size", "numel", "item", "neg", "not", "ite"};
template <size_t kCount>
std::string_view second(const Pair (&pairs)[kCount], std::string_view first) {
    for (const auto& [one, other] : pairs) {
        if (one == first) {
            return other;
        }
    }
    return {};
}

// Python's text of a float, which is read back as the same.
std::string float_text(double value) {
    if (std::isnan(value)) {
        return "math.nan";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-math.inf" : "math.inf";
    }
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string join(const std::vector<std::string>& texts) {
    return fmt::format("{}", fmt::join(texts, ", "));
}

// Strings in the quotes that Python's repr chooses.
std::string repr(std::string_view text) {
    bool is_double =
        text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
    return python_string(text, is_double ? '"' : '\'');
}

class Writer {
  public:
    Writer(const OwnOperators& own, const std::set<std::string>& modules,
           const std::set<std::string, std::less<>>& pairs)
        : own_(own), modules_(modules), pairs_(pairs) {}

    void line(int depth, std::string_view text, const Node* node = nullptr) {
        if (!text.empty()) {
            script_.text.append(static_cast<size_t>(depth) * 4, ' ');
            script_.text += text;
        }
        script_.text += '\n';
        script_.lines.push_back(node);
    }

    void body(Names& names, const Program& program, int depth) {
        for (const Program& inner : program.bodies) {
            Names own(inner, modules_);
            std::vector<std::string> parameters;
            for (const Input& one : inner.inputs) {
                parameters.push_back(own(one.name));
            }
            line(depth, fmt::format("def {}({}):", names(inner.name), join(parameters)));
            body(own, inner, depth + 1);
            line(0, "");
        }
        for (const Node& node : program.nodes) {
            if (space_of(node.target) == "hop") {
                higher_order(names, node, depth);
                continue;
            }
            std::string annotation = node.type.empty() ? "" : ": " + node.type;
            line(depth,
                 fmt::format("{}{} = {}", names(node.name), annotation, expression(names, node)),
                 &node);
        }
        line(depth, result(names, program, depth));
    }

    Script take() { return std::move(script_); }

  private:
    // One half of values that are pairs, where `part` says which.
    struct Scope {
        const Names& names;
        std::optional<int> part;
    };

    std::string name(const Scope& scope, std::string_view value) const {
        const std::string& text = scope.names(value);
        bool is_half = scope.part && pairs_.find(value) != pairs_.end();
        return is_half ? fmt::format("{}[{}]", text, *scope.part) : text;
    }

    std::vector<std::string> values(const Scope& scope, const std::vector<Value>& all) const {
        std::vector<std::string> texts;
        for (const Value& one : all) {
            texts.push_back(value(scope, one));
        }
        return texts;
    }

    std::string value(const Scope& scope, const Value& value) const {
        switch (value.kind) {
            case Value::Kind::kNone:
                return "None";
            case Value::Kind::kBool:
                return value.integer != 0 ? "True" : "False";
            case Value::Kind::kInt:
                return std::to_string(value.integer);
            case Value::Kind::kFloat:
                return float_text(value.real);
            case Value::Kind::kString:
                return repr(value.text);
            case Value::Kind::kRef:
            case Value::Kind::kBody:
                return name(scope, value.text);
            case Value::Kind::kElementType:
                return value.text + ".dtype";
            case Value::Kind::kList:
                return "[" + join(values(scope, value.items)) + "]";
            case Value::Kind::kTuple:
                return "(" + join(values(scope, value.items)) +
                       (value.items.size() == 1 ? ",)" : ")");
        }
        return {};
    }

    std::string expression(const Names& names, const Node& node) const {
        if (node.is_twice) {
            return fmt::format("({}, {})", once({names, 0}, node), once({names, 1}, node));
        }
        Scope scope{names, reads_shape(node.target) ? std::optional(0) : std::nullopt};
        std::string text = once(scope, node);
        bool is_cast = !node.into.empty() && space_of(node.target) != "py";
        return is_cast ? fmt::format("aten.into({}, {})", name(scope, node.into), text) : text;
    }

    std::string once(const Scope& scope, const Node& node) const {
        return space_of(node.target) == "py" ? of_python(scope, node) : call(scope, node);
    }

    std::string of_python(const Scope& scope, const Node& node) const {
        std::string_view what = packet_of(node.target);
        std::vector<std::string> args = values(scope, node.args);
        if (std::string_view called = second(kCalls, what); !called.empty()) {
            return fmt::format("{}({})", called, join(args));
        }
        // The rest of them takes three at most.
        args.resize(std::max<size_t>(args.size(), 3), "None");
        if (what == "getitem") {
            return fmt::format("{}[{}]", args[0], args[1]);
        }
        if (what == "size") {
            return fmt::format("{}.shape[{}]", args[0], args[1]);
        }
        if (what == "numel") {
            return fmt::format("math.prod({}.shape)", args[0]);
        }
        if (what == "item") {
            return fmt::format("{}({})", node.element_type, args[0]);
        }
        if (what == "neg" || what == "not") {
            return fmt::format("{}{}", what == "neg" ? "-" : "not ", args[0]);
        }
        if (what == "ite") {
            return fmt::format("{} if {} else {}", args[1], args[0], args[2]);
        }
        return fmt::format("{} {} {}", args[0], second(kInfix, what), args[1]);
    }

    std::string call(const Scope& scope, const Node& node) const {
        std::vector<std::string> args = values(scope, node.args);
        for (const auto& [key, one] : node.kwargs) {
            args.push_back(
                fmt::format("{}{}={}", key, is_keyword(key) ? "_" : "", value(scope, one)));
        }
        auto own = own_.find(node.target);
        std::string called = own != own_.end()
                                 ? fmt::format("{}.{}", own->second.module, own->second.function)
                                 : fmt::format("aten.{}", overload_name(node.target));
        return fmt::format("{}({})", called, join(args));
    }

    void higher_order(Names& names, const Node& node, int depth) {
        Scope scope{names, std::nullopt};
        std::string made = names(node.name);
        const std::vector<Value>& args = node.args;
        if (node.target == "hop::call") {
            std::vector<Value> rest(args.begin() + 1, args.end());
            line(depth,
                 fmt::format("{} = {}({})", made, names(args[0].text), join(values(scope, rest))),
                 &node);
        } else if (node.target == "hop::cond") {
            std::string inner = join(values(scope, args[3].items));
            line(depth,
                 fmt::format("{} = {}({}) if {} else {}({})", made, names(args[1].text), inner,
                             value(scope, args[0]), names(args[2].text), inner),
                 &node);
        } else if (node.target == "hop::while_loop") {
            while_loop(names, node, depth);
        } else {
            scan(names, node, depth);
        }
    }

    std::vector<std::string> fresh(Names& names, std::string_view form, size_t count) {
        std::vector<std::string> made;
        for (size_t i = 0; i < count; ++i) {
            made.push_back(names.plain(fmt::format("{}_{}", form, i)));
        }
        return made;
    }

    void while_loop(Names& names, const Node& node, int depth) {
        Scope scope{names, std::nullopt};
        std::string made = names(node.name);
        const std::vector<Value>& start = node.args[2].items;
        std::vector<std::string> carried = fresh(names, made, start.size());
        std::vector<std::string> given = carried;
        for (std::string& one : values(scope, node.args[3].items)) {
            given.push_back(std::move(one));
        }
        for (size_t i = 0; i < start.size(); ++i) {
            line(depth, fmt::format("{} = {}", carried[i], value(scope, start[i])), &node);
        }
        line(depth, fmt::format("while {}({}):", names(node.args[0].text), join(given)), &node);
        std::string targets = join(carried) + (carried.size() == 1 ? "," : "");
        line(depth + 1, fmt::format("{} = {}({})", targets, names(node.args[1].text), join(given)),
             &node);
        line(depth, fmt::format("{} = ({},)", made, join(carried)), &node);
    }

    // Carried values, and rows.
    void scan(Names& names, const Node& node, int depth) {
        Scope scope{names, std::nullopt};
        std::string made = names(node.name);
        const std::vector<Value>& start = node.args[1].items;
        const std::vector<Value>& rows = node.args[2].items;
        size_t results = static_cast<size_t>(node.args[4].integer);
        std::vector<std::string> carried = fresh(names, made + "_carried", start.size());
        std::vector<std::string> stacked =
            fresh(names, made + "_rows", results - std::min(results, start.size()));
        std::string place = names.plain(made + "_i"), step = names.plain(made + "_step");
        for (size_t i = 0; i < start.size(); ++i) {
            line(depth, fmt::format("{} = {}", carried[i], value(scope, start[i])), &node);
        }
        for (const std::string& one : stacked) {
            line(depth, one + " = []", &node);
        }
        line(depth, fmt::format("for {} in range({}.shape[0]):", place, value(scope, rows[0])),
             &node);
        std::vector<std::string> given = carried;
        for (const Value& one : rows) {
            given.push_back(fmt::format("{}[{}]", value(scope, one), place));
        }
        for (std::string& one : values(scope, node.args[3].items)) {
            given.push_back(std::move(one));
        }
        line(depth + 1, fmt::format("{} = {}({})", step, names(node.args[0].text), join(given)),
             &node);
        for (size_t i = 0; i < carried.size(); ++i) {
            line(depth + 1, fmt::format("{} = {}[{}]", carried[i], step, i), &node);
        }
        for (size_t i = 0; i < stacked.size(); ++i) {
            line(depth + 1, fmt::format("{}.append({}[{}])", stacked[i], step, carried.size() + i),
                 &node);
        }
        std::vector<std::string> all = carried;
        for (const std::string& one : stacked) {
            all.push_back(fmt::format("op.ConcatFromSequence({}, axis=0, new_axis=1)", one));
        }
        line(depth, fmt::format("{} = ({},)", made, join(all)), &node);
    }

    std::string result(Names& names, const Program& program, int depth) {
        Scope scope{names, std::nullopt};
        std::set<std::string_view> made;
        for (const Node& node : program.nodes) {
            made.insert(node.name);
        }
        std::set<std::string> seen;
        std::vector<std::string> all;
        for (size_t i = 0; i < program.outputs.size(); ++i) {
            const Value& one = program.outputs[i];
            std::string text = value(scope, one);
            bool is_made = one.is_ref() && made.count(one.text) != 0;
            if (one.is_ref() && program.is_model && (!is_made || seen.count(text) != 0)) {
                text = fmt::format("aten.clone({})", text);
                if (i < program.output_names.size() && !program.output_names[i].empty()) {
                    std::string wanted = names.plain(program.output_names[i]);
                    line(depth, fmt::format("{} = {}", wanted, text));
                    text = wanted;
                }
            }
            seen.insert(text);
            all.push_back(std::move(text));
        }
        if (program.is_tuple && all.size() == 1 && !program.is_model) {
            return fmt::format("return ({},)", all[0]);
        }
        return all.empty() ? "return ()" : "return " + join(all);
    }

    const OwnOperators& own_;
    const std::set<std::string>& modules_;
    const std::set<std::string, std::less<>>& pairs_;
    Script script_;
};

// The element types that the text names.
// The type that an input has in the model.
std::string_view tensor_type(const Input& input) {
    return input.type == kIntInput ? std::string_view("INT64") : input.type;
}

void collect_types(const Program& program, std::set<std::string>& names) {
    auto add = [&names](const std::string& type) {
        if (!type.empty()) {
            names.insert(type.substr(0, type.find('[')));
        }
    };
    for (const Input& one : program.inputs) {
        add(std::string(tensor_type(one)));
    }
    for (const Node& node : program.nodes) {
        add(node.type);
        for (const Value& one : node.args) {
            add(one.is(Value::Kind::kElementType) ? one.text : std::string());
        }
        for (const auto& [name, one] : node.kwargs) {
            add(one.is(Value::Kind::kElementType) ? one.text : std::string());
        }
    }
    for (const Program& body : program.bodies) {
        collect_types(body, names);
    }
}

// The type with the bounds of the dimensions that have not been written yet. A lower one up to 2
// only says that torch has not looked at what 0 and 1 would mean: it takes them.
std::string with_bounds(std::string type, std::map<std::string, DimBounds, std::less<>>& bounds) {
    constexpr int64_t kLeast = 2;
    for (auto one = bounds.begin(); one != bounds.end();) {
        if (!is_identifier(one->first)) {  // of `2*s`: an annotation bounds names alone
            one = bounds.erase(one);
            continue;
        }
        std::string dim = fmt::format("\"{}\"", one->first);
        size_t at = type.find(dim);
        if (at == std::string::npos) {
            ++one;
            continue;
        }
        DimBounds stated = one->second;
        stated.lower = stated.lower.value_or(0) > kLeast ? stated.lower : std::nullopt;
        std::string text = annotation_of_dim(bounded_symbol(one->first, stated));
        type.replace(at, dim.size(), fmt::format("\"{}\"", text));
        one = bounds.erase(one);
    }
    return type;
}

}  // namespace

bool is_python_operation(std::string_view name) {
    return !second(kInfix, name).empty() || !second(kCalls, name).empty() ||
           std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

std::set<std::string> own_modules(const Program& program, const OwnOperators& own) {
    std::set<std::string> modules;
    for (const Node& node : program.nodes) {
        auto found = own.find(node.target);
        if (found != own.end()) {
            modules.insert(found->second.module);
        }
    }
    for (const Program& body : program.bodies) {
        modules.merge(own_modules(body, own));
    }
    return modules;
}

Script write_script(const Program& program, const ScriptOptions& options) {
    std::set<std::string> modules = own_modules(program, options.own);
    Writer writer(options.own, modules, program.pairs);
    Names names(program, modules);
    writer.line(0, "@script(default_opset=op, initializer_bytes=0, fold_bytes=65536)");
    std::vector<std::string> parameters;
    std::map<std::string, DimBounds, std::less<>> bounds = program.bounds;
    for (const Input& one : program.inputs) {
        std::string type = with_bounds(std::string(tensor_type(one)), bounds);
        parameters.push_back(names(one.name) + (type.empty() ? "" : ": " + type));
    }
    writer.line(0, fmt::format("def {}({}):", program.name, join(parameters)));
    for (const Input& one : program.inputs) {
        if (one.type == kIntInput) {  // `/` of it is not that of an INT64 tensor
            writer.line(1, fmt::format("{0} = int({0})", names(one.name)));
        }
    }
    writer.body(names, program, 1);
    Script body = writer.take();

    std::set<std::string> types;
    collect_types(program, types);
    std::vector<std::string> imports(types.begin(), types.end());
    imports.push_back(fmt::format("opset{} as op", options.opset));
    imports.emplace_back("script");
    if (!options.weights.empty()) {
        imports.emplace_back("load_weights");
    }
    auto uses = [&](std::string_view name) { return body.text.find(name) != std::string::npos; };
    std::string head = uses("math.") ? "import math\n\n" : "";
    head += fmt::format("from sardonyx import {}\n", join(imports));
    head += uses("aten.") ? "from sardonyx.torch import aten\n" : "";
    head += "\n";
    modules.erase("aten");
    for (const std::string& module : modules) {
        head += fmt::format("import {}\n", module);
    }
    head += modules.empty() ? "" : "\n";
    head += options.weights.empty()
                ? ""
                : fmt::format("w = load_weights({})\n\n", repr(options.weights));
    head += "\n";
    auto count = static_cast<size_t>(std::count(head.begin(), head.end(), '\n'));
    Script script{head + body.text, std::vector<const Node*>(count, nullptr)};
    script.lines.insert(script.lines.end(), body.lines.begin(), body.lines.end());
    return script;
}

}  // namespace sardonyx::torch
