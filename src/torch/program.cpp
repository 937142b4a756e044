#include "torch/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "torch/names.h"

namespace sardonyx::torch {
namespace {

constexpr std::string_view kLeftOut[] = {"device",        "layout",       "pin_memory",
                                         "memory_format", "non_blocking", "generator",
                                         "requires_grad"};
constexpr std::string_view kNothing[] = {"_assert_tensor_metadata",
                                         "_assert_scalar",
                                         "_assert_async",
                                         "_print",
                                         "print",
                                         "sym_constrain_range",
                                         "sym_constrain_range_for_size",
                                         "_functional_assert_async",
                                         "_set_grad_enabled",
                                         "promote_types",
                                         "result_type",
                                         "_functional_assert_scalar",
                                         "_linalg_check_errors"};
// What writes in place although its name does not end in `_`.
constexpr std::string_view kWriters[] = {"prims::copy_to.default", "prims::resize.default"};

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

std::string words_of(const Place& place) {
    std::string words = place.file.empty() ? "" : fmt::format("{}:{}", place.file, place.line);
    if (!words.empty() && !place.module.empty()) {
        return words + " in " + place.module;
    }
    return words.empty() ? place.module : words;
}

std::string words_of(const Problem& problem) {
    std::string where = problem.place != nullptr ? words_of(*problem.place) : std::string();
    std::string text =
        fmt::format("{}\n  --> {}", problem.reason, where.empty() ? "no place in a file" : where);
    if (problem.place != nullptr && !problem.place->code.empty()) {
        text += "\n   | " + problem.place->code;
    }
    return problem.help.empty() ? text : text + "\n   = help: " + problem.help;
}

void add_problems(std::vector<Problem>& problems, std::vector<Problem> more) {
    std::move(more.begin(), more.end(), std::back_inserter(problems));
}

bool has_weights(const Program& program) {
    return !program.weights.empty() ||
           std::any_of(program.bodies.begin(), program.bodies.end(), has_weights);
}

std::string_view element_type_of(std::string_view type) {
    return type.substr(0, type.find('['));
}

std::string_view packet_of(std::string_view target) {
    size_t colons = target.find("::");
    std::string_view rest =
        colons == std::string_view::npos ? std::string_view() : target.substr(colons + 2);
    return rest.substr(0, rest.find('.'));
}

std::string_view space_of(std::string_view target) {
    return target.substr(0, target.find("::"));
}

bool reads_shape(std::string_view target) {
    return target == "py::size" || target == "py::numel";
}

bool means_nothing(std::string_view packet) {
    return std::find(std::begin(kNothing), std::end(kNothing), packet) != std::end(kNothing);
}

bool is_left_out(std::string_view argument) {
    return std::find(std::begin(kLeftOut), std::end(kLeftOut), argument) != std::end(kLeftOut);
}

bool writes_in_place(std::string_view target) {
    std::string_view packet = packet_of(target);
    bool is_dunder = ends_with(packet, "__");
    return (ends_with(packet, "_") && !is_dunder) || (is_dunder && packet.substr(0, 3) == "__i") ||
           std::find(std::begin(kWriters), std::end(kWriters), target) != std::end(kWriters);
}

bool has_out(std::string_view target) {
    size_t dot = target.find('.');
    std::string_view suffix =
        dot == std::string_view::npos ? std::string_view() : target.substr(dot + 1);
    return suffix == kOut || ends_with(suffix, "_out") || suffix.substr(0, 4) == "out_" ||
           suffix.substr(0, 3) == "Out";
}

std::string python_target(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
        {"sym_not", "not"}, {"not_", "not"}, {"sym_ite", "ite"}, {"_sym_sqrt", "sym_sqrt"}};
    for (const auto& [before, after] : kRenamed) {
        name = name == before ? after : name;
    }
    return fmt::format("py::{}", name);
}

namespace {

// Whether the arguments are of the kinds that the operator takes: `b` a body, `s` a list, `r` a
// list of at least one, `i` an int, `v` anything, and `*` more of it.
bool are_of(const std::vector<Value>& args, std::string_view kinds) {
    size_t i = 0;
    for (char kind : kinds) {
        if (kind == '*') {
            return true;
        }
        if (i == args.size()) {
            return false;
        }
        const Value& one = args[i++];
        bool is_right = kind == 'v' || (kind == 'b' && one.is(Value::Kind::kBody)) ||
                        (kind == 's' && one.is_sequence()) ||
                        (kind == 'r' && one.is_sequence() && !one.items.empty()) ||
                        (kind == 'i' && one.is(Value::Kind::kInt));
        if (!is_right) {
            return false;
        }
    }
    return i == args.size();
}

}  // namespace

bool calls_body(const Node& node, std::string_view name) {
    return std::any_of(node.args.begin(), node.args.end(), [name](const Value& one) {
        return one.is(Value::Kind::kBody) && one.text == name;
    });
}

bool set_bodies(Node& node, std::string_view name, std::vector<Value> args, size_t results) {
    auto from = [&](size_t first) {
        return std::vector<Value>(args.begin() + static_cast<std::ptrdiff_t>(first), args.end());
    };
    Value count = Value::number(static_cast<int64_t>(results));
    if ((name == "cond" || name == "while_loop") && args.size() >= 3) {
        node.target = fmt::format("hop::{}", name);
        args.resize(4, Value::list({}));
        node.args = std::move(args);
    } else if (name == "wrap_with_set_grad_enabled" && args.size() >= 2) {
        node.target = "hop::call";
        node.args = from(1);
    } else if (name == "wrap_with_autocast" && args.size() >= 5) {
        node.target = "hop::call";
        node.args = from(4);
    } else if (name == "scan" && args.size() >= 3) {
        node.target = "hop::scan";
        args.resize(4, Value::list({}));
        args.push_back(count);
        node.args = std::move(args);
    } else if (name == "map_impl" && args.size() >= 2) {
        node.target = "hop::scan";
        Value more = args.size() > 2 ? args[2] : Value::list({});
        node.args = {args[0], Value::list({}), args[1], more, count};
    } else {
        return false;
    }
    if (name == "cond" || name == "while_loop") {
        return are_of(node.args, name == "cond" ? "vbbs" : "bbss");
    }
    if (node.target == "hop::scan") {
        return are_of(node.args, "bsrsi") && results >= node.args[1].items.size();
    }
    return are_of(node.args, "b*");
}

Program with_outputs(Program program, const std::vector<std::string>& names) {
    program.outputs.clear();
    program.output_names.clear();
    for (const std::string& name : names) {
        program.outputs.push_back(Value::ref(name));
    }
    return program;
}

Problem without_bodies(const Node& node, std::string_view name) {
    constexpr size_t kMostShown = 200;
    return {node.place,
            fmt::format("the operator {}, which has bodies",
                        python_string(name.substr(0, kMostShown), '`')),
            "write it without, or export what is in it alone"};
}

}  // namespace sardonyx::torch
