// The commands on models as data: their options, and how words become one of them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands.h"

namespace sardonyx::cli {

// What the options are stored in.
struct ModelWords {
    DecompileOptions decompile;
    std::string model, second, output, graph, prefix, html, extract, replace, from_form, to_form;
    std::vector<std::string> from, to, names, nodes, dims, functions, links, keep, inputs;
    size_t external_bytes = 0, seed = 0;
    bool json = false, quiet = false, lists_nodes = false, with_names = false;
    bool keeps_linked = false, statistics = false, random = false;
};

// An option, or an argument by its place: CLI11's names, "-o,--output" or "file".
struct OptionRow {
    const char* names;
    const char* about;
    const char* type_name;  // of what it takes; empty: a flag
    std::variant<bool*, std::string*, std::vector<std::string>*, size_t*> target;
    bool is_required = false;
    size_t least = 1;  // of a number
};

struct ModelCommand {
    const char* name;
    const char* about;
    const char* example;
    std::vector<OptionRow> (*options)(ModelWords& words);
    Result<Command> (*read)(ModelWords& words);
};

extern const ModelCommand kDecompile, kInfo, kDiff, kConvert, kCut, kRename, kSetShape, kMerge,
    kStrip, kWeights, kExtract, kTestcase;

}  // namespace sardonyx::cli
