// Metadata of nodes by the lines of the script that make them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diagnostics/source.h"
#include "ir/ir.h"

namespace sardonyx::driver {

using Properties = std::vector<std::pair<std::string, std::string>>;  // keys and values
// By lines of the file, from 1.
using LineMetadata = std::unordered_map<uint32_t, Properties>;

// The metadata of one more line, which a caller gives. Error: no file has such a line.
Result<void> add_line(LineMetadata& lines, int64_t line, Properties properties);

// Gives the nodes of the main graph that a line has made, and those in them, the metadata of the
// line. Statements make their nodes one after the other, and the last one of a statement makes the
// value that it binds; nodes of functions that a line calls belong to the line.
void set_line_metadata(ir::Model& model, const diagnostics::Sources& sources,
                       diagnostics::FileId file, const LineMetadata& lines);

}  // namespace sardonyx::driver
