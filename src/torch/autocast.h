// Regions of torch.autocast: what the operators in them cast their arguments to.
//
// A captured graph has the operators as they were called, without these casts. The tables follow
// PyTorch's documentation, "Autocast Op Reference" (docs.pytorch.org/docs/stable/amp.html), and are
// compared with the kernels of the installed torch by tests/torch/test_autocast.py.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

// The element types of lower precision of the kinds of devices for which a region is on.
struct AutocastState {
    std::string cpu, cuda;  // empty: off
};
// The state in a region, by the first arguments of `wrap_with_autocast`: a device, an element type
// and whether the region is on. Nothing: no such device is known.
std::optional<AutocastState> state_in_region(const AutocastState& around,
                                             const std::vector<Value>& args);

// What is known of a tensor where operators choose their types.
struct AutocastTensor {
    std::string type;  // such as `FLOAT[2, "n"]`
    std::string_view device;
};
using AutocastTensorOf = std::function<std::optional<AutocastTensor>(const std::string& name)>;

// The casts in one body. A value is cast once, until something is written in place.
class Autocast {
  public:
    Autocast(AutocastState state, AutocastTensorOf tensor_of)
        : state_(std::move(state)), tensor_of_(std::move(tensor_of)) {}

    const AutocastState& state() const { return state_; }

    // Puts casts before a node that gives these results, and what they give into its arguments.
    void cast_arguments(Node& node, const std::vector<std::string>& results,
                        std::vector<Node>& nodes);

  private:
    std::string cast(const std::string& name, std::string_view wanted, const Node& node,
                     std::vector<Node>& nodes);

    AutocastState state_;
    AutocastTensorOf tensor_of_;
    std::map<std::pair<std::string, std::string>, std::string> casts_;
};

// How the library of PyTorch casts, for tests: "lower", "float", "float unless typed", "widest", or
// "" where an operator has no kernel of its own.
std::string_view autocast_policy(std::string_view device, std::string_view target);

}  // namespace sardonyx::torch
