#include "torch/overloads.h"

#include <fmt/format.h>

#include <algorithm>

#include "torch/outs.h"
#include "torch/program.h"

namespace sardonyx::torch {
namespace {

// In-place operators whose truths become elements of their target's type.
constexpr std::string_view kTruths[] = {"eq_",
                                        "ne_",
                                        "lt_",
                                        "le_",
                                        "gt_",
                                        "ge_",
                                        "not_equal_",
                                        "less_",
                                        "less_equal_",
                                        "greater_",
                                        "greater_equal_",
                                        "logical_and_",
                                        "logical_or_",
                                        "logical_xor_",
                                        "logical_not_"};

// Overloads with a parameter `out` whose names do not say which one has the other parameters.
constexpr std::pair<std::string_view, std::string_view> kOutForms[] = {
    {"all.all_out", "default"},
    {"all.out", "dim"},
    {"any.all_out", "default"},
    {"any.out", "dim"},
    {"arange.start_out", "start_step"},
    {"div.out_mode", "Tensor_mode"},
    {"divide.out_mode", "Tensor_mode"},
    {"max.out", "other"},
    {"max.unary_out", "default"},
    {"mean.dtype_out", "default"},
    {"mean.out", "dim"},
    {"min.out", "other"},
    {"min.unary_out", "default"},
    {"norm.dtype_out", "ScalarOpt_dim_dtype"},
    {"norm.out", "ScalarOpt_dim"},
    {"prod.int_out", "dim_int"},
    {"std.out", "dim"},
    {"sum.IntList_out", "dim_IntList"},
    {"var.out", "dim"},
    {"xlogy.OutScalar_Other", "Scalar_Other"},
    {"xlogy.OutScalar_Self", "Scalar_Self"},
    {"xlogy.OutTensor", "Tensor"},
};

// The overload without the parameter `out`.
std::string without_out(std::string_view space, std::string_view packet, std::string_view suffix,
                        const IsKnown& is_known) {
    for (const auto& [name, form] : kOutForms) {
        if (name == fmt::format("{}.{}", packet, suffix)) {
            return fmt::format("{}::{}.{}", space, packet, form);
        }
    }
    if (suffix != kOut) {
        return fmt::format("{}::{}.{}", space, packet, suffix.substr(0, suffix.rfind('_')));
    }
    std::string plain = fmt::format("{}::{}.default", space, packet);
    std::string of_tensors = fmt::format("{}::{}.Tensor", space, packet);
    return !is_known(plain) && is_known(of_tensors) ? of_tensors : plain;
}

}  // namespace

std::string functional_overload(std::string_view overload, const IsKnown& is_known) {
    std::string_view space = space_of(overload), packet = packet_of(overload);
    size_t dot = overload.find('.');
    std::string_view suffix =
        dot == std::string_view::npos ? std::string_view() : overload.substr(dot + 1);
    if (std::string_view form = form_without_outs(overload); !form.empty()) {
        return std::string(form);
    }
    if (has_out(overload)) {
        return without_out(space, packet, suffix, is_known);
    }
    std::string plain(packet);
    if (packet.size() > 5 && packet.substr(0, 3) == "__i") {  // __ior__ -> __or__
        plain = fmt::format("__{}", packet.substr(3));
    } else if (!plain.empty() && plain.back() == '_') {
        plain.pop_back();
    }
    for (const std::string& name :
         {fmt::format("{}::{}.{}", space, plain, suffix),
          fmt::format("{}::{}.default", space, plain),
          fmt::format("{}::{}_functional.{}", space, plain, suffix), std::string(overload)}) {
        if (is_known(name)) {
            return name;
        }
    }
    return fmt::format("{}::{}.{}", space, plain, suffix);
}

bool gives_truths(std::string_view overload) {
    std::string_view packet = packet_of(overload);
    return std::find(std::begin(kTruths), std::end(kTruths), packet) != std::end(kTruths);
}

}  // namespace sardonyx::torch
