#include "cli/model_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/nearest.h"
#include "cli/command_words.h"
#include "proto/forms.h"

namespace sardonyx::cli {
namespace {

using Rows = std::vector<OptionRow>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kModelText = "The model (- for standard input)";

Rows edit_rows(ModelWords& words, Rows own) {
    Rows rows{{"file", kModelText, "MODEL.onnx", &words.model, true}};
    rows.insert(rows.end(), own.begin(), own.end());
    rows.push_back({"-o,--output", "The file to write (- for standard output)", "OUT.onnx",
                    &words.output, true});
    rows.push_back({"--external-data",
                    "Store initializers of at least this size in a file beside the model; by "
                    "default 1024 if the model has such a file",
                    "BYTES", &words.external_bytes});
    rows.push_back({"--json", "Print a summary of the changes as JSON", "", &words.json});
    return rows;
}

Result<Command> edit(const ModelWords& words, decltype(EditOptions::request) request) {
    EditOptions options;
    options.model = words.model;
    options.second = words.second;
    options.output = words.output;
    options.external_bytes = words.external_bytes;
    options.json = words.json;
    options.quiet = words.quiet;
    options.request = std::move(request);
    return Command(std::move(options));
}

Result<models::Sizes> read_sizes(const std::vector<std::string>& words) {
    SDX_ASSIGN(std::vector<driver::Assignment> pairs, read_assignments(words, "--dim N=640"));
    models::Sizes sizes;
    for (const auto& [name, text] : pairs) {
        int64_t size = -1;
        auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), size);
        if (failed != std::errc() || end != text.data() + text.size() || size < 0) {
            return Error{
                fmt::format("`--dim {}={}`: a size is an integer of 0 or more", name, text)};
        }
        sizes.emplace_back(name, size);
    }
    return sizes;
}

Rows decompile_rows(ModelWords& words) {
    return {
        {"file", kModelText, "MODEL.onnx", &words.decompile.model, true},
        {"-o,--output", "The file to write; by default standard output (-)", "FILE.py",
         &words.decompile.output},
        {"--outline", "Write equal consecutive blocks as one function", "",
         &words.decompile.outline},
        {"--exact",
         "Append the names, order, documentation, metadata and stated types, so that `build` gives "
         "the same bytes",
         "", &words.decompile.exact},
        {"--to",
         "What to write: python (a script), cpp (a C++ program), or text (the text form of onnx)",
         "WORD", &words.decompile.to},
    };
}

Result<Command> read_decompile(ModelWords& words) {
    const std::string& to = words.decompile.to;
    if (to != "python" && to != "cpp" && to != "text") {
        return Error{fmt::format("`--to {}`: use python, cpp or text", to)};
    }
    bool is_plain = !words.decompile.outline && !words.decompile.exact;
    if (to != "python" && !is_plain) {
        return Error{"`--outline` and `--exact` are for scripts: use them without `--to`"};
    }
    if (words.decompile.outline && words.decompile.exact) {
        return Error{"`--outline` makes another model: use it without `--exact`"};
    }
    return Command(words.decompile);
}

// --- info and diff -------------------------------------------------------------------------------

Rows info_rows(ModelWords& words) {
    return {
        {"file", "A model (- for standard input), or a file and the script in it",
         "MODEL.onnx|FILE.py[:NAME]", &words.model, true},
        {"--dim", "The size of a named dimension", "NAME=SIZE", &words.dims},
        {"--nodes", "List the cost of each node", "", &words.lists_nodes},
        {"--json", "Print all as JSON, the nodes included", "", &words.json},
    };
}

Result<Command> read_info(ModelWords& words) {
    InfoOptions options;
    options.target = split_target(words.model);
    SDX_ASSIGN(options.sizes, read_sizes(words.dims));
    options.nodes = words.lists_nodes;
    options.json = words.json;
    return Command(std::move(options));
}

Rows diff_rows(ModelWords& words) {
    return {
        {"first", "A model, or a file and the script in it", "A", &words.model, true},
        {"second", "Another one (- for a model from standard input)", "B", &words.second, true},
        {"--names", "Also compare documentation and the names of inner values and nodes", "",
         &words.with_names},
        {"--json", "Print the differences as JSON", "", &words.json},
        {"--html", "Write both side by side (- for standard output)", "OUT.html", &words.html},
    };
}

Result<Command> read_diff(ModelWords& words) {
    DiffOptions options;
    options.first = split_target(words.model);
    options.second = split_target(words.second);
    options.names = words.with_names;
    options.json = words.json;
    options.html = words.html;
    options.quiet = words.quiet;
    if (options.json && options.html == kStream) {
        return Error{"only one of `--json` and `--html` can be standard output"};
    }
    if (words.model == kStream && words.second == kStream) {
        return Error{"standard input holds one model: name a file for the other"};
    }
    return Command(std::move(options));
}

// --- Edits ---------------------------------------------------------------------------------------

Rows cut_rows(ModelWords& words) {
    return edit_rows(
        words, {{"--from", "A value that becomes an input; by default, the inputs stay", "NAME",
                 &words.from},
                {"--to", "A value that becomes an output; by default, the outputs stay", "NAME",
                 &words.to}});
}

Rows convert_rows(ModelWords& words) {
    return edit_rows(
        words, {{"--from",
                 "The form of the model: onnx, onnxtxt, json or textproto; by default "
                 "that of the file name's extension, else onnx",
                 "FORM", &words.from_form},
                {"--to", "The form to write; by default that of the output's extension", "FORM",
                 &words.to_form}});
}

Result<Command> read_convert(ModelWords& words) {
    for (const std::string* form : {&words.from_form, &words.to_form}) {
        const auto* found =
            std::find(std::begin(proto::kFormNames), std::end(proto::kFormNames), *form);
        if (!form->empty() && found == std::end(proto::kFormNames)) {
            return Error{fmt::format("there is no form `{}`; the forms are {}", *form,
                                     fmt::join(proto::kFormNames, ", "))};
        }
    }
    SDX_ASSIGN(Command command, edit(words, std::monostate()));
    auto& options = std::get<EditOptions>(command);
    options.from_form = words.from_form;
    options.to_form = words.to_form;
    return command;
}

Result<Command> read_cut(ModelWords& words) {
    if (words.from.empty() && words.to.empty()) {
        return Error{"specify where to cut: `--from NAME`, `--to NAME`, or both"};
    }
    return edit(words, models::CutRequest{words.from, words.to});
}

Rows rename_rows(ModelWords& words) {
    return edit_rows(words,
                     {{"names", "Values and their new names", "OLD=NEW", &words.names},
                      {"--node", "A node and its new name", "OLD=NEW", &words.nodes},
                      {"--dim", "A named dimension and its new name", "OLD=NEW", &words.dims},
                      {"--function", "A function and its new name, which may have a domain",
                       "[DOMAIN:]OLD=[DOMAIN:]NEW", &words.functions},
                      {"--graph", "The new name of the graph", "NAME", &words.graph}});
}

Result<Command> read_rename(ModelWords& words) {
    models::Renaming renaming;
    SDX_ASSIGN(renaming.values, read_assignments(words.names, "x=input"));
    SDX_ASSIGN(renaming.nodes, read_assignments(words.nodes, "--node conv1=stem"));
    SDX_ASSIGN(renaming.dims, read_assignments(words.dims, "--dim N=batch"));
    SDX_ASSIGN(renaming.functions, read_assignments(words.functions, "--function old=new"));
    renaming.graph = words.graph;
    bool is_empty = renaming.values.empty() && renaming.nodes.empty() && renaming.dims.empty() &&
                    renaming.functions.empty() && renaming.graph.empty();
    if (is_empty) {
        return Error{"specify new names: `OLD=NEW`"};
    }
    return edit(words, std::move(renaming));
}

Rows set_shape_rows(ModelWords& words) {
    return edit_rows(
        words, {{"types", "Values and their types; `[N,4]` keeps the element type", "NAME=TYPE",
                 &words.names},
                {"--dim", "The size of a named dimension, everywhere", "NAME=SIZE", &words.dims}});
}

Result<Command> read_set_shape(ModelWords& words) {
    models::ShapeRequest request;
    SDX_ASSIGN(request.types, read_assignments(words.names, "x='FLOAT[N,4]'"));
    SDX_ASSIGN(request.sizes, read_sizes(words.dims));
    if (request.types.empty() && request.sizes.empty()) {
        return Error{"specify new types: `NAME=TYPE`, or `--dim NAME=SIZE`"};
    }
    return edit(words, std::move(request));
}

Rows merge_rows(ModelWords& words) {
    return edit_rows(
        words, {{"second", "The model that receives the outputs of the first", "SECOND.onnx",
                 &words.second, true},
                {"--link",
                 "An output of the first and the input of the second that receives it; by "
                 "default those with equal names",
                 "OUTPUT=INPUT", &words.links},
                {"--prefix", "A prefix for all names of the second model", "TEXT", &words.prefix},
                {"--keep-linked", "Keep linked outputs as outputs, too", "", &words.keeps_linked}});
}

Result<Command> read_merge(ModelWords& words) {
    models::MergeRequest request;
    for (const std::string& word : words.links) {  // one output may go into several inputs
        size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0) {
            return Error{fmt::format("`--link {}`: write it as `--link OUTPUT=INPUT`", word)};
        }
        request.links.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    request.prefix = words.prefix;
    request.keeps_linked = words.keeps_linked;
    return edit(words, std::move(request));
}

struct Part {
    std::string_view name;
    bool models::StripRequest::*member;
};

constexpr Part kParts[] = {
    {"docs", &models::StripRequest::docs},     {"metadata", &models::StripRequest::metadata},
    {"types", &models::StripRequest::types},   {"names", &models::StripRequest::names},
    {"unused", &models::StripRequest::unused}, {"notes", &models::StripRequest::notes},
};

Rows strip_rows(ModelWords& words) {
    return edit_rows(words,
                     {{"--keep",
                       "What to keep: docs, metadata, types (of inner values), names (of nodes), "
                       "unused (nodes, initializers and functions), notes (training, devices, "
                       "quantization)",
                       "WORD,...", &words.keep}});
}

Result<Command> read_strip(ModelWords& words) {
    models::StripRequest request;
    for (const std::string& list : words.keep) {
        for (size_t begin = 0; begin <= list.size();) {
            size_t end = std::min(list.find(',', begin), list.size());
            std::string word = list.substr(begin, end - begin);
            begin = end + 1;
            std::vector<std::string_view> names;
            bool is_known = false;
            for (const Part& part : kParts) {
                names.push_back(part.name);
                if (part.name == word) {
                    request.*part.member = false;
                    is_known = true;
                }
            }
            if (!is_known) {
                std::string_view near = nearest(word, names);
                return Error{
                    fmt::format("`--keep {}`: use {}{}", word, fmt::join(names, ", "),
                                near.empty() ? "" : fmt::format("; did you mean `{}`?", near))};
            }
        }
    }
    return edit(words, request);
}

Rows extract_rows(ModelWords& words) {
    return edit_rows(words, {{"function", "Its name, with its domain if there are several",
                              "[DOMAIN:]FUNCTION", &words.second, true},
                             {"--input", "The type of an input; by default that of the first call",
                              "NAME=TYPE", &words.inputs}});
}

Result<Command> read_extract(ModelWords& words) {
    models::ExtractRequest request;
    request.function = std::exchange(words.second, {});
    SDX_ASSIGN(request.types, read_assignments(words.inputs, "--input x='FLOAT[N,4]'"));
    return edit(words, std::move(request));
}

// --- weights and testcase ------------------------------------------------------------------------

Rows weights_rows(ModelWords& words) {
    return {
        {"file", kModelText, "MODEL.onnx", &words.model, true},
        {"names", "The weights; by default all", "NAME", &words.names},
        {"--statistics", "Print statistics of their elements", "", &words.statistics},
        {"--json", "Print it as JSON", "", &words.json},
        {"--extract", "Write them to a file (- for standard output)", "FILE.safetensors",
         &words.extract},
        {"--replace", "Replace them with the weights of a file",
         "FILE.safetensors|FILE.npz|MODEL.onnx", &words.replace},
        {"-o,--output", "With --replace: the model to write (- for standard output)", "OUT.onnx",
         &words.output},
        {"--external-data", "With --replace: as in the other commands", "BYTES",
         &words.external_bytes},
    };
}

Result<Command> read_weights_command(ModelWords& words) {
    WeightsOptions options;
    options.model = words.model;
    options.names = words.names;
    options.statistics = words.statistics;
    options.json = words.json;
    options.quiet = words.quiet;
    options.extract = words.extract;
    options.replace = words.replace;
    options.output = words.output;
    options.external_bytes = words.external_bytes;
    return Command(std::move(options));
}

Rows testcase_rows(ModelWords& words) {
    return {
        {"file", "A file and the script in it, or a model", "FILE.py[:NAME]|MODEL.onnx",
         &words.model, true},
        {"inputs", "The inputs, as `run` takes them; the others are random", "NAME=VALUE",
         &words.inputs},
        {"-o,--output", "The folder to write", "DIR", &words.output, true},
        {"--dim", "The size of a named dimension, for random numbers", "NAME=SIZE", &words.dims},
        {"--seed", "The seed of random numbers", "N", &words.seed, false, 0},
    };
}

Result<Command> read_testcase(ModelWords& words) {
    RunOptions options;
    options.target = split_target(words.model);
    SDX_ASSIGN(options.inputs, read_assignments(words.inputs, "X=3.5"));
    SDX_ASSIGN(options.sizes, read_assignments(words.dims, "--dim N=640"));
    options.testcase = words.output;
    options.seed = words.seed;
    options.random = true;
    options.quiet = words.quiet;
    return Command(std::move(options));
}

}  // namespace

constinit const ModelCommand kDecompile = {
    "decompile", "Convert a .onnx model to a script",
    "Examples:\n"
    "  sardonyx decompile gelu.onnx -o gelu.py\n"
    "  sardonyx decompile gelu.onnx | less\n"
    "\n"
    "With -o, weights that are too large for literals are written to FILE.safetensors beside "
    "FILE.py; a\n"
    "script on standard output reads them from the model file. The script has been compiled and "
    "compared\n"
    "with the model; a model that no script can express is an error.\n",
    decompile_rows, read_decompile};

constinit const ModelCommand kInfo = {"info", "Describe a model and the cost of a run",
                                      "Examples:\n"
                                      "  sardonyx info gelu.onnx --dim N=640\n"
                                      "  sardonyx info gelu.onnx --json | jq .operations\n",
                                      info_rows, read_info};

constinit const ModelCommand kDiff = {
    "diff", "Show the differences between two models",
    "Examples:\n"
    "  sardonyx diff before.onnx after.onnx\n"
    "  sardonyx diff gelu.py:gelu gelu.onnx --html diff.html\n"
    "\n"
    "Exit status: 0 if they are the same, 1 if they differ, 2 if one cannot be read.\n",
    diff_rows, read_diff};

constinit const ModelCommand kConvert = {
    "convert", "Write a model in another form: text, JSON, or one file instead of several",
    "Examples:\n"
    "  sardonyx convert model.onnx -o model.onnxtxt\n"
    "  sardonyx convert model.onnx -o - --to json | jq .graph.node[].op_type\n"
    "  sardonyx convert model.textproto -o model.onnx\n",
    convert_rows, read_convert};

constinit const ModelCommand kCut = {
    "cut", "Write the part of a model between given values",
    "Example:\n"
    "  sardonyx cut model.onnx --from hidden --to logits -o head.onnx\n",
    cut_rows, read_cut};

constinit const ModelCommand kRename = {
    "rename", "Rename parts of a model",
    "Example:\n"
    "  sardonyx rename model.onnx x=pixels y=scores --dim N=batch -o named.onnx\n",
    rename_rows, read_rename};

constinit const ModelCommand kSetShape = {
    "set-shape", "Change the types of values of a model",
    "Examples:\n"
    "  sardonyx set-shape model.onnx 'x=FLOAT[N,3,224,224]' -o out.onnx\n"
    "  sardonyx set-shape model.onnx --dim N=1 -o out.onnx\n",
    set_shape_rows, read_set_shape};

constinit const ModelCommand kMerge = {
    "merge", "Connect the outputs of one model to the inputs of another",
    "Example:\n"
    "  sardonyx merge encoder.onnx decoder.onnx --link hidden=states -o both.onnx\n",
    merge_rows, read_merge};

constinit const ModelCommand kStrip = {
    "strip", "Remove parts of a model that its results do not need",
    "Example:\n"
    "  sardonyx strip model.onnx -o small.onnx --keep metadata,docs\n",
    strip_rows, read_strip};

constinit const ModelCommand kWeights = {
    "weights", "List, extract and replace the weights of a model",
    "Examples:\n"
    "  sardonyx weights model.onnx --statistics\n"
    "  sardonyx weights model.onnx --extract model.safetensors\n"
    "  sardonyx weights model.onnx --replace tuned.safetensors -o tuned.onnx\n",
    weights_rows, read_weights_command};

constinit const ModelCommand kExtract = {
    "extract", "Write a function of a model as a model",
    "Example:\n"
    "  sardonyx extract model.onnx my.domain:gelu -o gelu.onnx\n",
    extract_rows, read_extract};

constinit const ModelCommand kTestcase = {
    "testcase", "Write a folder of the onnx backend tests",
    "Example:\n"
    "  sardonyx testcase gelu.py:gelu x=x.npy -o test_gelu\n"
    "\n"
    "The folder has model.onnx and test_data_set_0 with the inputs and the computed outputs.\n",
    testcase_rows, read_testcase};

}  // namespace sardonyx::cli
