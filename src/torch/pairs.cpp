#include "torch/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace sardonyx::torch {
namespace {

// What does the same to the real and to the imaginary parts.
constexpr std::string_view kTwice[] = {"view",
                                       "reshape",
                                       "_unsafe_view",
                                       "flatten",
                                       "unflatten",
                                       "unsqueeze",
                                       "squeeze",
                                       "transpose",
                                       "permute",
                                       "t",
                                       "numpy_T",
                                       "mT",
                                       "expand",
                                       "contiguous",
                                       "clone",
                                       "alias",
                                       "detach",
                                       "select",
                                       "slice",
                                       "narrow",
                                       "index",
                                       "index_select",
                                       "gather",
                                       "cat",
                                       "stack",
                                       "flip",
                                       "roll",
                                       "repeat",
                                       "movedim",
                                       "sum",
                                       "mean",
                                       "cumsum",
                                       "tril",
                                       "triu",
                                       "diagonal",
                                       "pad",
                                       "constant_pad_nd",
                                       "lift_fresh_copy",
                                       "swapaxes",
                                       "fft_fftshift",
                                       "fft_ifftshift",
                                       "select_scatter",
                                       "slice_scatter",
                                       "split",
                                       "split_with_sizes",
                                       "chunk",
                                       "unbind",
                                       "diagonal_scatter",
                                       "index_put",
                                       "index_add",
                                       "repeat_interleave",
                                       "unfold",
                                       "broadcast_in_dim",
                                       "collapse",
                                       "collapse_view",
                                       "rev",
                                       "split_dim",
                                       "view_of",
                                       "copy_strided",
                                       "copy_to",
                                       "device_put",
                                       "ravel",
                                       "unsqueeze_copy",
                                       "squeeze_copy",
                                       "swapdims",
                                       "transpose_copy",
                                       "permute_copy",
                                       "t_copy",
                                       "moveaxis",
                                       "expand_copy",
                                       "broadcast_to",
                                       "alias_copy",
                                       "view_copy",
                                       "_reshape_copy",
                                       "detach_copy",
                                       "lift",
                                       "lift_fresh",
                                       "resolve_neg",
                                       "positive",
                                       "select_copy",
                                       "slice_copy",
                                       "narrow_copy",
                                       "linalg_diagonal",
                                       "diagonal_copy",
                                       "fliplr",
                                       "flipud",
                                       "rot90",
                                       "tile",
                                       "unfold_copy",
                                       "pixel_shuffle",
                                       "pixel_unshuffle",
                                       "channel_shuffle",
                                       "native_channel_shuffle",
                                       "atleast_1d",
                                       "atleast_2d",
                                       "atleast_3d",
                                       "as_strided",
                                       "as_strided_copy",
                                       "as_strided_scatter",
                                       "resize",
                                       "concat",
                                       "concatenate",
                                       "hstack",
                                       "vstack",
                                       "row_stack",
                                       "dstack",
                                       "column_stack",
                                       "block_diag",
                                       "cartesian_prod",
                                       "unsafe_split",
                                       "split_copy",
                                       "split_with_sizes_copy",
                                       "unsafe_chunk",
                                       "tensor_split",
                                       "hsplit",
                                       "vsplit",
                                       "dsplit",
                                       "unbind_copy",
                                       "_chunk_cat",
                                       "diag",
                                       "diag_embed",
                                       "diagflat",
                                       "combinations",
                                       "take",
                                       "take_along_dim",
                                       "masked_select",
                                       "masked_scatter",
                                       "put",
                                       "index_copy",
                                       "_unsafe_index",
                                       "_unsafe_index_put",
                                       "_unsafe_masked_index_put_accumulate",
                                       "scatter_add",
                                       "sum_to_size",
                                       "trace",
                                       "im2col",
                                       "col2im",
                                       "feature_alpha_dropout",
                                       "dropout",
                                       "alpha_dropout",
                                       "feature_dropout"};

// Those of them of which a further argument is a tensor of the same kind: its place.
constexpr std::pair<std::string_view, size_t> kMore[] = {
    {"select_scatter", 1},
    {"slice_scatter", 1},
    {"diagonal_scatter", 1},
    {"as_strided_scatter", 1},
    {"copy_to", 1},
    {"index_put", 2},
    {"_unsafe_index_put", 2},
    {"index_add", 3},
    {"index_copy", 3},
    {"scatter_add", 3},
    {"put", 2},
    {"masked_scatter", 2},
    {"_unsafe_masked_index_put_accumulate", 3}};

std::string_view without_underscore(std::string_view packet) {
    return !packet.empty() && packet.back() == '_' ? packet.substr(0, packet.size() - 1) : packet;
}

bool has_pair(const Value& value, const Program& program) {
    bool found = value.kind == Value::Kind::kTuple;  // a complex number
    each_ref(value, [&](const std::string& name) { found |= program.pairs.count(name) != 0; });
    return found || std::any_of(value.items.begin(), value.items.end(),
                                [&](const Value& one) { return has_pair(one, program); });
}

// Whether the operator does the same to both parts: its further arguments must be real then.
bool is_same_for_both(const Node& node, std::string_view packet, const Program& program) {
    if (std::find(std::begin(kTwice), std::end(kTwice), packet) == std::end(kTwice) ||
        program.pairs.count(node.name) == 0 || node.target == "aten::view.dtype") {
        return false;
    }
    for (size_t i = 1; i < node.args.size(); ++i) {
        bool is_more =
            std::find(std::begin(kMore), std::end(kMore), std::pair(packet, i)) != std::end(kMore);
        if (!is_more && has_pair(node.args[i], program)) {
            return false;
        }
    }
    return std::none_of(node.kwargs.begin(), node.kwargs.end(), [&](const auto& one) {
        return one.first != kOut && has_pair(one.second, program);  // `out` is written alone
    });
}

// Makes pairs of the real tensors among complex ones, as torch promotes them.
void add_real_parts(Node& node, Program& program, std::vector<Node>& made) {
    std::vector<size_t> places{0};
    std::string packet(without_underscore(packet_of(node.target)));
    for (const auto& [name, place] : kMore) {
        if (name == packet) {
            places.push_back(place);
        }
    }
    std::map<std::string, std::string> names;
    for (size_t place : places) {
        if (place >= node.args.size()) {
            continue;
        }
        each_ref(node.args[place], [&](const std::string& name) {
            if (program.pairs.count(name) != 0 || names.count(name) != 0) {
                return;
            }
            Node part;
            part.name = fmt::format("{}_of_{}", name, node.name);
            part.target = "pairs::of_real";
            part.args = {Value::ref(name)};
            part.place = node.place;
            names[name] = part.name;
            made.push_back(std::move(part));
        });
        for (const auto& [name, pair] : names) {
            program.pairs.insert(pair);
        }
        rename(node.args[place], [&names](const std::string& name) {
            auto found = names.find(name);
            return found != names.end() ? found->second : name;
        });
    }
}

Node make_node(std::string name, std::string_view target, const std::string& of) {
    Node node;
    node.name = std::move(name);
    node.target = target;
    node.args = {Value::ref(of)};
    return node;
}

}  // namespace

std::vector<Problem> choose_pairs(Program& program, const IsKnown& is_known) {
    std::vector<Problem> refused;
    std::vector<Node> nodes;
    // What functions for pairs give. Of several results each is a pair or real; operators that are
    // called twice give two lists instead.
    std::set<std::string, std::less<>> whole;
    for (Node& node : program.nodes) {
        if (node.target == "py::getitem" && node.is_twice && whole.count(node.args[0].text) != 0) {
            node.is_twice = false;
        }
        std::string plain =
            node.writes.empty() ? node.target : functional_overload(node.target, is_known);
        if (reads_shape(node.target)) {
            nodes.push_back(std::move(node));
            continue;
        }
        // Transforms of real numbers have a form for pairs alone.
        if (!node.takes_pairs && (is_known(plain) || space_of(plain) != "aten")) {
            nodes.push_back(std::move(node));
            continue;
        }
        std::string rest = node.target.substr(std::min(node.target.find("::"), node.target.size()));
        std::string_view packet = packet_of(node.target);
        std::string form = "pairs" + rest;
        if (!node.writes.empty()) {
            form = functional_overload(form, is_known);
            packet = without_underscore(packet);
        }
        bool is_conversion = packet == "to" || packet == "_to_copy";
        if (is_conversion && program.pairs.count(node.name) == 0) {
            node.target = "pairs::to_real";  // the imaginary part is discarded
        } else if (is_known(form)) {
            node.target = "pairs" + rest;
            whole.insert(node.name);
        } else if (is_same_for_both(node, packet, program)) {
            add_real_parts(node, program, nodes);
            node.is_twice = true;
        } else if (node.takes_pairs) {
            refused.push_back(
                {node.place,
                 fmt::format("`{}` of complex tensors is not in the library", node.target), ""});
        }
        nodes.push_back(std::move(node));
    }
    program.nodes = std::move(nodes);
    return refused;
}

void make_ends_real(Program& program) {
    std::map<std::string, std::string> made;
    std::vector<Node> front;
    auto see = [&](const std::string& name) {
        if (program.pairs.count(name) != 0) {
            made[name] = name + "_pair";
            front.push_back(make_node(made[name], "pairs::view_as_complex.default", name));
        }
    };
    for (const Input& one : program.inputs) {
        see(one.name);
    }
    for (const Weight& one : program.weights) {
        see(one.name);
    }
    if (!made.empty()) {
        auto name_of = [&made](const std::string& name) {
            auto found = made.find(name);
            return found != made.end() ? found->second : name;
        };
        for (Node& node : program.nodes) {
            rename_arguments(node, name_of);
            front.push_back(std::move(node));
        }
        program.nodes = std::move(front);
        for (Value& one : program.outputs) {
            rename(one, name_of);
        }
        for (const auto& [name, pair] : made) {
            program.pairs.insert(pair);
            program.pairs.erase(name);
        }
    }
    for (Value& one : program.outputs) {
        if (one.is_ref() && program.pairs.count(one.text) != 0) {
            Node node = make_node(one.text + "_real", "pairs::view_as_real.default", one.text);
            one = Value::ref(node.name);
            program.nodes.push_back(std::move(node));
        }
    }
}

}  // namespace sardonyx::torch
