#include "torch/views.h"

#include <algorithm>

namespace sardonyx::torch {
namespace {

struct ViewedPlace {
    std::string_view packet;
    size_t place;
};
constexpr ViewedPlace kPlaces[] = {{"einsum", 1}};  // of all others it is the first
constexpr std::string_view kOfEach[] = {"atleast_1d", "atleast_2d", "atleast_3d",
                                        "broadcast_tensors", "meshgrid"};

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
    if (is_einsum && transpose_back(node.args[0].text).empty()) {
        return std::nullopt;
    }
    return true;
}

std::string transpose_back(std::string equation) {
    std::erase(equation, ' ');
    size_t arrow = equation.find("->");
    if (arrow == std::string::npos) {  // then the letters come in their order
        arrow = equation.size();
        std::string letters = equation;
        std::erase(letters, '.');
        std::sort(letters.begin(), letters.end());
        bool has_rest = letters.size() < equation.size();
        equation += (has_rest ? "->..." : "->") + letters;
    }
    std::string from = equation.substr(0, arrow), to = equation.substr(arrow + 2);
    std::string back = to + "->" + from;
    std::sort(from.begin(), from.end());
    std::sort(to.begin(), to.end());
    auto is_repeated = [](char a, char b) { return a == b && a != '.'; };
    bool is_one = std::adjacent_find(from.begin(), from.end(), is_repeated) == from.end();
    return is_one && from == to ? back : "";
}

}  // namespace sardonyx::torch
