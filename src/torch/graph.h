// A graph of a .pt2 file, or one in it, as a program.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_reader.h"
#include "base/result.h"
#include "torch/place.h"
#include "torch/program.h"
#include "torch/sizes.h"

namespace sardonyx::torch {

// What a whole file is read with.
struct GraphReading {
    const DimNames& names;
    JsonValue bounds;  // `range_constraints`
    std::vector<Problem> problems;
    std::string error;  // the first; empty: none
    // What has been read: many tensors have the same sizes, and many nodes one place.
    std::unordered_map<std::string_view, std::string> dims;  // by the text of JSON
    Places places;
};

// A parameter of the outermost graph.
struct Placeholder {
    std::string name;
    bool is_weight = false;
    std::string key;    // of a weight, the name of its array
    std::string group;  // weights that share their memory have the same one
};

// The outermost graph. `reading` tells what went wrong.
Program read_graph(JsonValue graph, const std::vector<Placeholder>& placeholders,
                   GraphReading& reading);

}  // namespace sardonyx::torch
