#include "torch/literals.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "torch/names.h"

namespace sardonyx::torch {
namespace {

void fail(std::string& error, std::string words) {
    if (error.empty()) {
        error = std::move(words);
    }
}

}  // namespace

std::string shown(std::string_view text) {
    constexpr size_t kMostShown = 60;
    return python_string(text.substr(0, kMostShown), '\'');
}

Value read_literal(JsonValue value, std::string& error, int depth) {
    if (value.is_list() && depth < 2) {
        std::vector<Value> items;
        for (JsonValue one : value.items()) {
            items.push_back(read_literal(one, error, depth + 1));
        }
        return Value::list(std::move(items));
    }
    if (std::optional<bool> truth = value.boolean()) {
        return Value::boolean(*truth);
    }
    if (std::optional<int64_t> number = value.integer()) {
        return Value::number(*number);
    }
    if (std::optional<std::string> text = value.text()) {
        return Value::of(Value::Kind::kString, std::move(*text));
    }
    bool is_real = value.is(JsonValue::Kind::kNumber) &&
                   value.source().find_first_of(".eE") != std::string_view::npos;
    if (is_real) {
        return Value::floating(value.number().value_or(0));
    }
    if (!value.is_null()) {
        fail(error, fmt::format("{} where a number is expected", shown(value.source())));
    }
    return Value::none();
}

Value read_real(JsonValue value, std::string& error, int depth) {
    if (value.is_list() && depth < 2) {
        std::vector<Value> items;
        for (JsonValue one : value.items()) {
            items.push_back(read_real(one, error, depth + 1));
        }
        return Value::list(std::move(items));
    }
    if (std::optional<double> number = value.number()) {
        return Value::floating(*number);
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::pair<std::string_view, double> kWords[] = {
        {"Infinity", kInfinity},
        {"-Infinity", -kInfinity},
        {"NaN", std::numeric_limits<double>::quiet_NaN()}};
    for (const auto& [word, number] : kWords) {
        if (value.is_string() && value.source() == word) {
            return Value::floating(number);
        }
    }
    fail(error, fmt::format("{} where a number is expected", shown(value.source())));
    return Value::none();
}

}  // namespace sardonyx::torch
