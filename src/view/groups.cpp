#include "view/groups.h"

#include "ir/standard.h"

namespace sardonyx::view {
namespace {

struct GroupRow {
    Group group;
    std::string_view op_type;
};

constexpr GroupRow kGroups[] = {
    {Group::kProduct, "Attention"},
    {Group::kProduct, "Conv"},
    {Group::kProduct, "ConvInteger"},
    {Group::kProduct, "ConvTranspose"},
    {Group::kProduct, "Einsum"},
    {Group::kProduct, "Gemm"},
    {Group::kProduct, "GRU"},
    {Group::kProduct, "LSTM"},
    {Group::kProduct, "MatMul"},
    {Group::kProduct, "MatMulInteger"},
    {Group::kProduct, "QLinearConv"},
    {Group::kProduct, "QLinearMatMul"},
    {Group::kProduct, "RNN"},
    {Group::kActivation, "Clip"},
    {Group::kActivation, "Elu"},
    {Group::kActivation, "Gelu"},
    {Group::kActivation, "HardSigmoid"},
    {Group::kActivation, "HardSwish"},
    {Group::kActivation, "LeakyRelu"},
    {Group::kActivation, "LogSoftmax"},
    {Group::kActivation, "PRelu"},
    {Group::kActivation, "Relu"},
    {Group::kActivation, "Selu"},
    {Group::kActivation, "Sigmoid"},
    {Group::kActivation, "Softmax"},
    {Group::kActivation, "Softplus"},
    {Group::kActivation, "Tanh"},
    {Group::kNormalization, "AveragePool"},
    {Group::kNormalization, "BatchNormalization"},
    {Group::kNormalization, "GlobalAveragePool"},
    {Group::kNormalization, "GlobalMaxPool"},
    {Group::kNormalization, "GroupNormalization"},
    {Group::kNormalization, "InstanceNormalization"},
    {Group::kNormalization, "LayerNormalization"},
    {Group::kNormalization, "LRN"},
    {Group::kNormalization, "MaxPool"},
    {Group::kNormalization, "ReduceMean"},
    {Group::kNormalization, "RMSNormalization"},
    {Group::kMovement, "Concat"},
    {Group::kMovement, "Expand"},
    {Group::kMovement, "Flatten"},
    {Group::kMovement, "Gather"},
    {Group::kMovement, "GatherElements"},
    {Group::kMovement, "GatherND"},
    {Group::kMovement, "Pad"},
    {Group::kMovement, "Reshape"},
    {Group::kMovement, "ScatterElements"},
    {Group::kMovement, "ScatterND"},
    {Group::kMovement, "Shape"},
    {Group::kMovement, "Slice"},
    {Group::kMovement, "Split"},
    {Group::kMovement, "Squeeze"},
    {Group::kMovement, "Tile"},
    {Group::kMovement, "Transpose"},
    {Group::kMovement, "Unsqueeze"},
    {Group::kControl, "If"},
    {Group::kControl, "Loop"},
    {Group::kControl, "Scan"},
    {Group::kControl, "SequenceMap"},
};

}  // namespace

Group group_of(const ir::Node& node) {
    for (const GroupRow& row : kGroups) {
        if (ir::is_standard(node, row.op_type)) {
            return row.group;
        }
    }
    return Group::kOther;
}

std::string_view color_of(Group group) {
    switch (group) {
        case Group::kProduct:
            return "#2f5d9b";
        case Group::kActivation:
            return "#9c3a3a";
        case Group::kNormalization:
            return "#2f7d55";
        case Group::kMovement:
            return "#85672b";
        case Group::kControl:
            return "#6d4498";
        case Group::kFunction:
            return "#1f7a80";
        case Group::kEnd:
            return "#8a8f98";
        case Group::kOther:
            break;
    }
    return "#4a5260";
}

}  // namespace sardonyx::view
