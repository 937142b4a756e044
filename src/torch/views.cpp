#include "torch/views.h"

#include <algorithm>

namespace sardonyx::torch {
namespace {

struct ViewedPlace {
    std::string_view packet;
    size_t place;
};
constexpr ViewedPlace kPlaces[] = {{"einsum", 1}};  // of all others it is the first
constexpr std::string_view kRest = "...";
constexpr std::string_view kOfEach[] = {"atleast_1d", "atleast_2d", "atleast_3d",
                                        "broadcast_tensors", "meshgrid"};

// The letters of the axes of the one tensor that an equation is of, and of the result.
struct Equation {
    std::string from, to;
};
Equation read_equation(std::string text) {
    std::erase(text, ' ');
    size_t arrow = text.find("->");
    if (arrow != std::string::npos) {
        return {text.substr(0, arrow), text.substr(arrow + 2)};
    }
    // Then the letters come in their order; repeated ones are summed.
    std::string letters;
    for (char letter : text) {
        if (letter != '.' && std::count(text.begin(), text.end(), letter) == 1) {
            letters += letter;
        }
    }
    std::sort(letters.begin(), letters.end());
    bool has_rest = text.find(kRest) != std::string::npos;
    return {text, (has_rest ? std::string(kRest) : std::string()) + letters};
}

}  // namespace

size_t viewed_place(std::string_view packet) {
    const auto* row = std::find_if(std::begin(kPlaces), std::end(kPlaces),
                                   [packet](const auto& one) { return one.packet == packet; });
    return row != std::end(kPlaces) ? row->place : 0;
}

bool views_each(const Node& node) {
    return std::find(std::begin(kOfEach), std::end(kOfEach), packet_of(node.target)) !=
               std::end(kOfEach) &&
           !node.args.empty() && node.args[0].is_sequence();
}

std::optional<bool> shares_listed(const Node& node) {
    std::string_view packet = packet_of(node.target);
    bool is_einsum = packet == "einsum";
    if ((!is_einsum && packet != "cartesian_prod") || node.args.size() <= viewed_place(packet)) {
        return std::nullopt;
    }
    // What is computed of several tensors is new.
    if (node.args[viewed_place(packet)].items.size() != 1) {
        return false;
    }
    if (!is_einsum) {
        return true;
    }
    Equation equation = read_equation(node.args[0].text);
    return std::all_of(equation.from.begin(), equation.from.end(),
                       [&](char letter) { return equation.to.find(letter) != std::string::npos; });
}

std::string transpose_back(std::string equation) {
    auto [from, to] = read_equation(std::move(equation));
    std::string back = to + "->" + from;
    std::sort(from.begin(), from.end());
    std::sort(to.begin(), to.end());
    auto is_repeated = [](char a, char b) { return a == b && a != '.'; };
    bool is_one = std::adjacent_find(from.begin(), from.end(), is_repeated) == from.end();
    return is_one && from == to ? back : "";
}

std::vector<int64_t> axes_of_diagonal(std::string equation) {
    auto [from, to] = read_equation(std::move(equation));
    std::vector<int64_t> axes;
    if (from.find(kRest) != std::string::npos) {
        return axes;
    }
    for (char letter : from) {
        size_t place = to.find(letter);
        if (place == std::string::npos) {
            return {};
        }
        axes.push_back(static_cast<int64_t>(place));
    }
    return axes;
}

}  // namespace sardonyx::torch
