#include "torch/outs.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "torch/foreach.h"

namespace sardonyx::torch {
namespace {

// The parameters that are written, in the order of the results.
struct Form {
    std::string_view overload;
    std::string_view without;
    std::vector<std::string_view> outs;
};
const Form kForms[] = {
    {"aten::aminmax.out", "aten::aminmax.default", {"min", "max"}},
    {"aten::cummax.out", "aten::cummax.default", {"values", "indices"}},
    {"aten::cummin.out", "aten::cummin.default", {"values", "indices"}},
    {"aten::frexp.Tensor_out", "aten::frexp.Tensor", {"mantissa", "exponent"}},
    {"aten::geqrf.a", "aten::geqrf.default", {"a", "tau"}},
    {"aten::histogram.bin_ct_out", "aten::histogram.bin_ct", {"hist", "bin_edges"}},
    {"aten::histogram.bins_tensor_out", "aten::histogram.bins_tensor", {"hist", "bin_edges"}},
    {"aten::kthvalue.values", "aten::kthvalue.default", {"values", "indices"}},
    {"aten::linalg_cholesky_ex.L", "aten::linalg_cholesky_ex.default", {"L", "info"}},
    {"aten::linalg_eigh.eigvals", "aten::linalg_eigh.default", {"eigvals", "eigvecs"}},
    {"aten::linalg_inv_ex.inverse", "aten::linalg_inv_ex.default", {"inverse", "info"}},
    {"aten::linalg_lu.out", "aten::linalg_lu.default", {"P", "L", "U"}},
    {"aten::linalg_lu_factor.out", "aten::linalg_lu_factor.default", {"LU", "pivots"}},
    {"aten::linalg_lu_factor_ex.out",
     "aten::linalg_lu_factor_ex.default",
     {"LU", "pivots", "info"}},
    {"aten::linalg_qr.out", "aten::linalg_qr.default", {"Q", "R"}},
    {"aten::linalg_slogdet.out", "aten::linalg_slogdet.default", {"sign", "logabsdet"}},
    {"aten::linalg_solve_ex.out", "aten::linalg_solve_ex.default", {"result", "info"}},
    {"aten::linalg_svd.U", "aten::linalg_svd.default", {"U", "S", "Vh"}},
    {"aten::lu_unpack.out", "aten::lu_unpack.default", {"P", "L", "U"}},
    {"aten::max.dim_max", "aten::max.dim", {"max", "max_values"}},
    {"aten::median.dim_values", "aten::median.dim", {"values", "indices"}},
    {"aten::min.dim_min", "aten::min.dim", {"min", "min_indices"}},
    {"aten::mode.values", "aten::mode.default", {"values", "indices"}},
    {"aten::nanmedian.dim_values", "aten::nanmedian.dim", {"values", "indices"}},
    {"aten::qr.Q", "aten::qr.default", {"Q", "R"}},
    {"aten::slogdet.out", "aten::slogdet.default", {"sign", "logabsdet"}},
    {"aten::sort.values", "aten::sort.default", {"values", "indices"}},
    {"aten::sort.values_stable", "aten::sort.stable", {"values", "indices"}},
    {"aten::svd.U", "aten::svd.default", {"U", "S", "V"}},
    {"aten::topk.values", "aten::topk.default", {"values", "indices"}},
    {"aten::triangular_solve.X", "aten::triangular_solve.default", {"X", "M"}},
};

const Form* form_of(std::string_view overload) {
    const auto* found = std::find_if(std::begin(kForms), std::end(kForms),
                                     [&](const Form& one) { return one.overload == overload; });
    return found != std::end(kForms) ? found : nullptr;
}

class Splitter {
  public:
    explicit Splitter(Program& program) : program_(program) {
        for (const Node& node : program.nodes) {
            taken_.insert(node.name);
        }
    }

    void run() {
        auto name_now = [this](const std::string& name) {
            auto found = now_.find(name);
            return found != now_.end() ? found->second : name;
        };
        for (Node& node : program_.nodes) {
            rename_arguments(node, name_now);
            node.writes = name_now(node.writes);
            const Form* form = form_of(node.target);
            if (form != nullptr && has_outs(node, *form)) {
                split(std::move(node), *form);
            } else if (!is_result(node)) {
                nodes_.push_back(std::move(node));
            }
        }
        for (Value& one : program_.outputs) {
            rename(one, name_now);
        }
        program_.nodes = std::move(nodes_);
    }

  private:
    static std::vector<std::pair<std::string, Value>>::iterator out_of(Node& node,
                                                                       std::string_view name) {
        return std::find_if(node.kwargs.begin(), node.kwargs.end(), [&](const auto& one) {
            return one.first == name && one.second.is_ref();
        });
    }
    static bool has_outs(Node& node, const Form& form) {
        return std::all_of(form.outs.begin(), form.outs.end(), [&](std::string_view name) {
            return out_of(node, name) != node.kwargs.end();
        });
    }

    // Whether the node takes one result of a node that has been split: its name means what was
    // written.
    bool is_result(const Node& node) {
        if (node.target != "py::getitem" || node.args.size() != 2) {
            return false;
        }
        auto found = written_.find(node.args[0].text);
        auto at = static_cast<size_t>(node.args[1].integer);
        if (found == written_.end() || at >= found->second.size()) {
            return false;
        }
        now_[node.name] = found->second[at];
        return true;
    }

    void split(Node node, const Form& form) {
        std::string all = node.name;
        std::vector<Node> writes;
        for (size_t i = 0; i < form.outs.size(); ++i) {
            auto out = out_of(node, form.outs[i]);
            Node part, write;
            part.name = fresh_name(taken_, fmt::format("{}_{}", all, form.outs[i]));
            part.target = "py::getitem";
            part.args = {Value::ref(all), Value::number(static_cast<int64_t>(i))};
            part.place = write.place = node.place;
            part.is_twice = write.takes_pairs = program_.pairs.count(out->second.text) != 0;
            write.name = fresh_name(taken_, part.name + "_out");
            write.target = "aten::clone.out";
            write.args = {Value::ref(part.name)};
            write.kwargs = {{std::string(kOut), out->second}};
            write.writes = out->second.text;
            if (part.is_twice) {
                program_.pairs.insert(part.name);
                program_.pairs.insert(write.name);
            }
            written_[all].push_back(write.name);
            writes.push_back(std::move(part));
            writes.push_back(std::move(write));
            node.kwargs.erase(out);
        }
        node.target = form.without;
        nodes_.push_back(std::move(node));
        std::move(writes.begin(), writes.end(), std::back_inserter(nodes_));
    }

    Program& program_;
    std::vector<Node> nodes_;
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, std::vector<std::string>> written_;  // of each node, in order
    std::unordered_map<std::string, std::string> now_;                   // what a result is called
};

}  // namespace

std::string_view form_without_outs(std::string_view overload) {
    const Form* form = form_of(overload);
    return form != nullptr ? form->without : std::string_view();
}

std::vector<Problem> split_outs(Program& program) {
    std::vector<Problem> problems = split_lists(program);
    bool has_some = std::any_of(program.nodes.begin(), program.nodes.end(),
                                [](const Node& node) { return form_of(node.target) != nullptr; });
    if (has_some) {
        Splitter(program).run();
    }
    return problems;
}

}  // namespace sardonyx::torch
