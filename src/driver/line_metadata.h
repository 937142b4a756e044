// Metadata of nodes by the lines of the script that make them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diagnostics/source.h"
#include "ir/ir.h"

namespace sardonyx::driver {

// By lines of the file, from 1: keys and values.
using LineMetadata = std::unordered_map<uint32_t, std::vector<std::pair<std::string, std::string>>>;

// Gives the nodes of the main graph that a line has made, and those in them, the metadata of the
// line. Statements make their nodes one after the other, and the last one of a statement makes the
// value that it binds; nodes of functions that a line calls belong to the line.
void set_line_metadata(ir::Model& model, const diagnostics::Sources& sources,
                       diagnostics::FileId file, const LineMetadata& lines);

}  // namespace sardonyx::driver
