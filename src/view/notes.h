// What somebody knows of the values and nodes of a model beside the model, to be shown with them:
// how weights are spread, what a run gave, in what another model differs.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace sardonyx::view {

// A name and what is said of it.
using Field = std::pair<std::string, std::string>;

// Of the elements of a value.
struct Note {
    std::vector<Field> fields;
    std::vector<int64_t> bars;       // how many elements are in equal parts of the range
    double least = 0, greatest = 0;  // the ends of the range
    bool has_nan = false;
};

enum class Mark : uint8_t { kNone, kAdded, kRemoved, kChanged };

struct NodeNote {
    Mark mark = Mark::kNone;
    uint32_t pair = UINT32_MAX;  // a number that the same node of the other model has, too
    bool is_first_nan = false;   // the first one of the run that gave NaN
};

struct Notes {
    std::unordered_map<const ir::Value*, Note> values;
    std::unordered_map<const ir::Node*, NodeNote> nodes;
    std::vector<Field> fields;  // of the model as a whole
};

}  // namespace sardonyx::view
