#include "torch/autocast.h"

#include <fmt/format.h>

#include <algorithm>

#include "torch/names.h"

namespace sardonyx::torch {
namespace {

enum class Policy : uint8_t {
    kNone,
    kLower,             // to the region's type
    kFloat,             // to FLOAT
    kFloatUnlessTyped,  // to FLOAT unless the call says `dtype`
    kWidest,            // to FLOAT if one of them is, else to the region's type
    // To the type that torch gives the result: operators that call others which have a policy.
    kOfResult,
};

// The names of overloads are left out where they are `default`.
constexpr std::string_view kLowerOnCpu[] = {"_addmm_activation",
                                            "_convolution.deprecated",
                                            "_native_multi_head_attention",
                                            "addbmm",
                                            "addmm",
                                            "baddbmm",
                                            "bmm",
                                            "conv1d",
                                            "conv1d.padding",
                                            "conv2d",
                                            "conv2d.padding",
                                            "conv3d",
                                            "conv3d.padding",
                                            "conv_tbc",
                                            "conv_transpose1d",
                                            "conv_transpose2d.input",
                                            "conv_transpose3d.input",
                                            "linalg_vecdot",
                                            "linear",
                                            "matmul",
                                            "mkldnn_rnn_layer",
                                            "mm",
                                            "prelu",
                                            "scaled_dot_product_attention"};
constexpr std::string_view kFloatOnCpu[] = {"_grid_sampler_2d_cpu_fallback",
                                            "_lu_with_info",
                                            "adaptive_avg_pool3d",
                                            "adaptive_max_pool3d",
                                            "avg_pool3d",
                                            "binary_cross_entropy",
                                            "binary_cross_entropy_with_logits",
                                            "cdist",
                                            "cholesky",
                                            "cholesky_inverse",
                                            "cholesky_solve",
                                            "cosine_embedding_loss",
                                            "cross_entropy_loss",
                                            "ctc_loss.IntList",
                                            "ctc_loss.Tensor",
                                            "fake_quantize_per_tensor_affine",
                                            "fft_fft",
                                            "fft_fft2",
                                            "fft_fftn",
                                            "fft_hfft",
                                            "fft_ifft",
                                            "fft_ifft2",
                                            "fft_ifftn",
                                            "fft_ihfft",
                                            "fft_irfft",
                                            "fft_irfft2",
                                            "fft_irfftn",
                                            "fft_rfft",
                                            "fft_rfft2",
                                            "fft_rfftn",
                                            "fractional_max_pool2d",
                                            "fractional_max_pool3d",
                                            "geqrf",
                                            "grid_sampler",
                                            "grid_sampler_2d",
                                            "grid_sampler_3d",
                                            "hinge_embedding_loss",
                                            "huber_loss",
                                            "inverse",
                                            "kl_div",
                                            "l1_loss",
                                            "linalg_cholesky",
                                            "linalg_cholesky_ex",
                                            "linalg_cond",
                                            "linalg_cond.p_str",
                                            "linalg_eig",
                                            "linalg_eigh",
                                            "linalg_eigvals",
                                            "linalg_eigvalsh",
                                            "linalg_householder_product",
                                            "linalg_inv",
                                            "linalg_inv_ex",
                                            "linalg_lstsq",
                                            "linalg_matrix_rank",
                                            "linalg_matrix_rank.atol_rtol_float",
                                            "linalg_matrix_rank.atol_rtol_tensor",
                                            "linalg_matrix_rank.tol_tensor",
                                            "linalg_qr",
                                            "linalg_solve",
                                            "linalg_svd",
                                            "linalg_svdvals",
                                            "linalg_tensorinv",
                                            "linalg_tensorsolve",
                                            "lu_solve",
                                            "margin_ranking_loss",
                                            "max_pool3d",
                                            "max_unpool2d",
                                            "max_unpool3d",
                                            "mse_loss",
                                            "multi_margin_loss",
                                            "multilabel_margin_loss",
                                            "multilabel_margin_loss_forward",
                                            "nanquantile",
                                            "nanquantile.scalar",
                                            "nll_loss",
                                            "nll_loss2d",
                                            "orgqr",
                                            "ormqr",
                                            "pinverse",
                                            "poisson_nll_loss",
                                            "polar",
                                            "prod",
                                            "prod.dim_int",
                                            "qr",
                                            "quantile",
                                            "quantile.scalar",
                                            "reflection_pad1d",
                                            "reflection_pad2d",
                                            "replication_pad1d",
                                            "replication_pad2d",
                                            "replication_pad3d",
                                            "smooth_l1_loss",
                                            "soft_margin_loss",
                                            "stft",
                                            "stft.center",
                                            "svd",
                                            "trace",
                                            "triangular_solve",
                                            "triplet_margin_loss",
                                            "view_as_complex"};
constexpr std::string_view kWidestOnCpu[] = {"cat", "index_copy", "stack"};

constexpr std::string_view kLowerOnCuda[] = {"_convolution",
                                             "_convolution.deprecated",
                                             "_scaled_dot_product_flash_attention",
                                             "_thnn_fused_gru_cell",
                                             "_thnn_fused_lstm_cell",
                                             "addbmm",
                                             "addmm",
                                             "addmv",
                                             "addr",
                                             "baddbmm",
                                             "bmm",
                                             "chain_matmul",
                                             "conv1d",
                                             "conv2d",
                                             "conv3d",
                                             "conv_tbc",
                                             "conv_transpose1d",
                                             "conv_transpose2d.input",
                                             "conv_transpose3d.input",
                                             "convolution",
                                             "cudnn_convolution",
                                             "cudnn_convolution_transpose",
                                             "einsum",
                                             "gru_cell",
                                             "linalg_multi_dot",
                                             "linalg_vecdot",
                                             "linear",
                                             "lstm_cell",
                                             "matmul",
                                             "mm",
                                             "mv",
                                             "prelu",
                                             "rnn_relu_cell",
                                             "rnn_tanh_cell",
                                             "scaled_dot_product_attention"};
constexpr std::string_view kFloatOnCuda[] = {"_upsample_bicubic2d_aa",
                                             "_upsample_bilinear2d_aa",
                                             "_upsample_nearest_exact1d",
                                             "_upsample_nearest_exact2d",
                                             "_upsample_nearest_exact3d",
                                             "acos",
                                             "asin",
                                             "binary_cross_entropy_with_logits",
                                             "cdist",
                                             "cosh",
                                             "cosine_embedding_loss",
                                             "cosine_similarity",
                                             "dist",
                                             "erfinv",
                                             "exp",
                                             "expm1",
                                             "frobenius_norm.dim",
                                             "group_norm",
                                             "hinge_embedding_loss",
                                             "huber_loss",
                                             "kl_div",
                                             "l1_loss",
                                             "layer_norm",
                                             "log",
                                             "log10",
                                             "log1p",
                                             "log2",
                                             "logsumexp",
                                             "margin_ranking_loss",
                                             "mse_loss",
                                             "multi_margin_loss",
                                             "multilabel_margin_loss",
                                             "native_layer_norm",
                                             "nll_loss",
                                             "nll_loss2d",
                                             "nuclear_norm",
                                             "nuclear_norm.dim",
                                             "pdist",
                                             "poisson_nll_loss",
                                             "pow.Scalar",
                                             "pow.Tensor_Scalar",
                                             "pow.Tensor_Tensor",
                                             "reciprocal",
                                             "renorm",
                                             "rms_norm",
                                             "rsqrt",
                                             "sinh",
                                             "smooth_l1_loss",
                                             "soft_margin_loss",
                                             "softplus",
                                             "tan",
                                             "triplet_margin_loss",
                                             "upsample_bicubic2d",
                                             "upsample_bilinear2d",
                                             "upsample_linear1d",
                                             "upsample_nearest1d",
                                             "upsample_nearest2d",
                                             "upsample_nearest3d",
                                             "upsample_trilinear3d"};
constexpr std::string_view kFloatUnlessTypedOnCuda[] = {"cumprod",
                                                        "cumsum",
                                                        "linalg_matrix_norm",
                                                        "linalg_matrix_norm.str_ord",
                                                        "linalg_vector_norm",
                                                        "log_softmax.int",
                                                        "norm.Scalar",
                                                        "norm.ScalarOpt_dim",
                                                        "prod",
                                                        "prod.dim_int",
                                                        "softmax.int",
                                                        "sum",
                                                        "sum.dim_IntList"};
constexpr std::string_view kWidestOnCuda[] = {
    "addcdiv",      "addcmul",   "atan2",       "bilinear",  "cross", "dot",
    "grid_sampler", "index_put", "scatter_add", "tensordot", "vdot"};

// Of any device: those that have no kernel for it, and call operators that have one.
constexpr std::string_view kCallers[] = {"__rmatmul__",
                                         "chain_matmul",
                                         "conv1d.padding",
                                         "conv2d.padding",
                                         "conv3d.padding",
                                         "cross_entropy_loss",
                                         "einsum",
                                         "gru.input",
                                         "inner",
                                         "linalg_matmul",
                                         "linalg_matrix_power",
                                         "linalg_multi_dot",
                                         "linalg_norm",
                                         "linalg_norm.ord_str",
                                         "lstm.input",
                                         "matrix_power",
                                         "nll_loss_nd",
                                         "rnn_relu.input",
                                         "rnn_tanh.input",
                                         "tensordot",
                                         "upsample_bicubic2d.vec",
                                         "upsample_bilinear2d.vec",
                                         "upsample_linear1d.vec",
                                         "upsample_nearest1d.vec",
                                         "upsample_nearest2d.vec",
                                         "upsample_nearest3d.vec",
                                         "upsample_trilinear3d.vec"};

Policy own_policy(std::string_view device, std::string_view target) {
    constexpr std::string_view kAten = "aten::", kDefault = ".default";
    if (target.substr(0, kAten.size()) != kAten) {
        return Policy::kNone;
    }
    std::string_view name = target.substr(kAten.size());
    if (name.ends_with(kDefault)) {
        name.remove_suffix(kDefault.size());
    }
    if (device == "cpu") {
        return holds(kLowerOnCpu, name)    ? Policy::kLower
               : holds(kFloatOnCpu, name)  ? Policy::kFloat
               : holds(kWidestOnCpu, name) ? Policy::kWidest
               : holds(kCallers, name)     ? Policy::kOfResult
                                           : Policy::kNone;
    }
    return holds(kLowerOnCuda, name)              ? Policy::kLower
           : holds(kFloatOnCuda, name)            ? Policy::kFloat
           : holds(kFloatUnlessTypedOnCuda, name) ? Policy::kFloatUnlessTyped
           : holds(kWidestOnCuda, name)           ? Policy::kWidest
           : holds(kCallers, name)                ? Policy::kOfResult
                                                  : Policy::kNone;
}

// What autocast casts: DOUBLE stays.
bool is_cast(std::string_view element_type) {
    return element_type == "FLOAT" || element_type == "FLOAT16" || element_type == "BFLOAT16";
}

bool says_type(const Node& node) {
    auto is_type = [](const Value& one) { return one.is(Value::Kind::kElementType); };
    return std::any_of(node.args.begin(), node.args.end(), is_type) ||
           std::any_of(node.kwargs.begin(), node.kwargs.end(),
                       [&](const auto& one) { return is_type(one.second); });
}

// The state of an LSTM's cells, which has a type of its own where there are projections.
std::string_view cells_of(const Node& node) {
    bool has_states = node.target == "aten::lstm.input" && node.args.size() > 1 &&
                      node.args[1].is_sequence() && node.args[1].items.size() == 2;
    return has_states ? std::string_view(node.args[1].items[1].text) : std::string_view();
}

}  // namespace

std::optional<AutocastState> state_in_region(const AutocastState& around,
                                             const std::vector<Value>& args) {
    bool has_device = args.size() >= 3 && args[0].is(Value::Kind::kString);
    if (!has_device || (args[0].text != "cpu" && args[0].text != "cuda")) {
        return std::nullopt;
    }
    AutocastState inside = around;
    bool is_cpu = args[0].text == "cpu", is_on = args[2] == Value::boolean(true);
    std::string lower = args[1].is(Value::Kind::kElementType) ? args[1].text
                        : is_cpu                              ? "BFLOAT16"
                                                              : "FLOAT16";
    // For other element types torch warns, and the region is off.
    is_on = is_on && (lower == "BFLOAT16" || lower == "FLOAT16");
    (is_cpu ? inside.cpu : inside.cuda) = is_on ? lower : std::string();
    return inside;
}

void Autocast::cast_arguments(Node& node, const std::vector<std::string>& results,
                              std::vector<Node>& nodes) {
    if (state_.cpu.empty() && state_.cuda.empty()) {
        return;
    }
    if (!node.writes.empty()) {
        casts_.clear();
    }
    // The kernel is that of the device of the first tensor.
    std::string_view device;
    bool has_float = false;
    each_argument_ref(node, [&](const std::string& name) {
        if (std::optional<AutocastTensor> tensor = tensor_of_(name)) {
            device = device.empty() ? tensor->device : device;
            has_float = has_float || element_type_of(tensor->type) == "FLOAT";
        }
    });
    std::string_view lower = device == "cpu"    ? std::string_view(state_.cpu)
                             : device == "cuda" ? std::string_view(state_.cuda)
                                                : std::string_view();
    Policy policy = lower.empty() ? Policy::kNone : own_policy(device, node.target);
    std::string of_result;
    if (std::optional<AutocastTensor> made = tensor_of_(results[0])) {
        of_result = element_type_of(made->type);
    }
    std::string_view cells = cells_of(node);
    std::optional<AutocastTensor> last = tensor_of_(results.back());
    bool keeps_cells = last && element_type_of(last->type) != of_result;
    std::string_view wanted;
    switch (policy) {
        case Policy::kNone:
            return;
        case Policy::kLower:
            wanted = lower;
            break;
        case Policy::kFloatUnlessTyped:
            wanted = says_type(node) ? std::string_view() : "FLOAT";
            break;
        case Policy::kFloat:
            wanted = "FLOAT";
            break;
        case Policy::kWidest:
            wanted = has_float ? "FLOAT" : lower;
            break;
        case Policy::kOfResult:
            wanted = is_cast(of_result) ? std::string_view(of_result) : std::string_view();
            break;
    }
    if (wanted.empty()) {
        return;
    }
    rename_arguments(node, [&](const std::string& name) {
        std::optional<AutocastTensor> tensor = tensor_of_(name);
        std::string_view now = tensor ? element_type_of(tensor->type) : std::string_view();
        bool is_other = is_cast(now) && now != wanted && tensor->device == device &&
                        !(keeps_cells && name == cells);
        return is_other ? cast(name, wanted, node, nodes) : name;
    });
}

std::string Autocast::cast(const std::string& name, std::string_view wanted, const Node& node,
                           std::vector<Node>& nodes) {
    std::string& made = casts_[{name, std::string(wanted)}];
    if (made.empty()) {
        // No value of a file has such a name: they are identifiers.
        made = fmt::format("{} as {}", name, wanted);
        Node one;
        one.name = made;
        one.target = "aten::_to_copy.default";
        one.args = {Value::ref(name)};
        one.kwargs.emplace_back("dtype", Value::of(Value::Kind::kElementType, std::string(wanted)));
        std::string type = tensor_of_(name)->type;
        one.type = std::string(wanted) + type.substr(element_type_of(type).size());
        one.place = node.place;
        nodes.push_back(std::move(one));
    }
    return made;
}

std::string_view autocast_policy(std::string_view device, std::string_view target) {
    switch (own_policy(device, target)) {
        case Policy::kLower:
            return "lower";
        case Policy::kFloat:
            return "float";
        case Policy::kFloatUnlessTyped:
            return "float unless typed";
        case Policy::kWidest:
            return "widest";
        case Policy::kNone:
        case Policy::kOfResult:
            return "";
    }
    return "";
}

}  // namespace sardonyx::torch
