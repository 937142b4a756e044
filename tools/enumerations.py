"""The strings that are legal for the string attributes of the standard's operators.

The schemas carry these only as prose, so they are listed here by hand: one row per operator and
attribute, with the legal strings from a version on. A later version of the operator without a row
of its own keeps the values. `FREE_TEXT` names the string attributes that may hold anything, so that
a new attribute of a new onnx release is in neither list and fails tests/python/ops/test_ops.py.
"""

_AUTO_PAD = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
_DEPTH_MODE = ("DCR", "CRD")
_DIRECTION = ("forward", "reverse", "bidirectional")
_GRID_PADDING = ("zeros", "border", "reflection")
_LOSS_REDUCTION = ("none", "sum", "mean")
_NEAREST_MODE = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_NODE_MODES = (
    "BRANCH_LEQ",
    "BRANCH_LT",
    "BRANCH_GTE",
    "BRANCH_GT",
    "BRANCH_EQ",
    "BRANCH_NEQ",
    "LEAF",
)
_POST_TRANSFORM = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_RNN_ACTIVATIONS = (
    "Relu",
    "Tanh",
    "Sigmoid",
    "Affine",
    "LeakyRelu",
    "ThresholdedRelu",
    "ScaledTanh",
    "HardSigmoid",
    "Elu",
    "Softsign",
    "Softplus",
)
_ROUND_MODE = ("up", "down", "nearest")
_SVM_KERNEL = ("LINEAR", "POLY", "RBF", "SIGMOID")
_SCATTER_16 = ("none", "add", "mul")
_SCATTER_18 = ("none", "add", "mul", "max", "min")
_TREE_AGGREGATE = ("AVERAGE", "SUM", "MIN", "MAX")
_RESIZE_COORDINATES_11 = (
    "half_pixel",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
_RESIZE_COORDINATES_13 = (
    "half_pixel",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)
_RESIZE_COORDINATES_19 = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)

# (domain, operator, attribute): {since version: legal strings}
ENUMERATIONS: dict[tuple[str, str, str], dict[int, tuple[str, ...]]] = {
    ("", "AveragePool", "auto_pad"): {1: _AUTO_PAD},
    ("", "BitShift", "direction"): {11: ("RIGHT", "LEFT")},
    ("", "Cast", "round_mode"): {24: _ROUND_MODE},
    ("", "CastLike", "round_mode"): {24: _ROUND_MODE},
    ("", "CausalConvWithState", "activation"): {27: ("silu", "swish", "none")},
    ("", "Conv", "auto_pad"): {1: _AUTO_PAD},
    ("", "ConvInteger", "auto_pad"): {10: _AUTO_PAD},
    ("", "ConvTranspose", "auto_pad"): {1: _AUTO_PAD},
    ("", "DepthToSpace", "mode"): {11: _DEPTH_MODE},
    ("", "GRU", "activations"): {1: _RNN_ACTIVATIONS},
    # The schema of version 1 spells its own default "foward".
    ("", "GRU", "direction"): {1: (*_DIRECTION, "foward"), 3: _DIRECTION},
    ("", "Gelu", "approximate"): {20: ("none", "tanh")},
    ("", "GridSample", "mode"): {
        16: ("bilinear", "nearest", "bicubic"),
        20: ("linear", "nearest", "cubic"),
    },
    ("", "GridSample", "padding_mode"): {16: _GRID_PADDING},
    ("", "ImageDecoder", "pixel_format"): {20: ("RGB", "BGR", "Grayscale")},
    ("", "LSTM", "activations"): {1: _RNN_ACTIVATIONS},
    ("", "LSTM", "direction"): {1: _DIRECTION},
    ("", "LinearAttention", "update_rule"): {27: ("linear", "gated", "delta", "gated_delta")},
    ("", "LpPool", "auto_pad"): {1: _AUTO_PAD},
    ("", "MaxPool", "auto_pad"): {1: _AUTO_PAD},
    ("", "NegativeLogLikelihoodLoss", "reduction"): {12: _LOSS_REDUCTION},
    ("", "Pad", "mode"): {
        1: ("constant", "reflect", "edge"),
        19: ("constant", "reflect", "edge", "wrap"),
    },
    ("", "QLinearConv", "auto_pad"): {10: _AUTO_PAD},
    ("", "RNN", "activations"): {1: _RNN_ACTIVATIONS},
    ("", "RNN", "direction"): {1: _DIRECTION},
    ("", "Resize", "coordinate_transformation_mode"): {
        11: _RESIZE_COORDINATES_11,
        13: _RESIZE_COORDINATES_13,
        19: _RESIZE_COORDINATES_19,
    },
    ("", "Resize", "keep_aspect_ratio_policy"): {18: ("stretch", "not_larger", "not_smaller")},
    ("", "Resize", "mode"): {10: ("nearest", "linear"), 11: ("nearest", "linear", "cubic")},
    ("", "Resize", "nearest_mode"): {11: _NEAREST_MODE},
    ("", "RoiAlign", "coordinate_transformation_mode"): {16: ("half_pixel", "output_half_pixel")},
    ("", "RoiAlign", "mode"): {10: ("avg", "max")},
    ("", "ScatterElements", "reduction"): {16: _SCATTER_16, 18: _SCATTER_18},
    ("", "ScatterND", "reduction"): {16: _SCATTER_16, 18: _SCATTER_18},
    ("", "SoftmaxCrossEntropyLoss", "reduction"): {12: _LOSS_REDUCTION},
    ("", "SpaceToDepth", "mode"): {28: _DEPTH_MODE},
    ("", "StringNormalizer", "case_change_action"): {10: ("LOWER", "UPPER", "NONE")},
    ("", "TensorScatter", "mode"): {24: ("linear", "circular")},
    ("", "TfIdfVectorizer", "mode"): {9: ("TF", "IDF", "TFIDF")},
    ("", "Upsample", "mode"): {1: ("nearest", "bilinear"), 7: ("nearest", "linear")},
    ("ai.onnx.ml", "CastMap", "cast_to"): {1: ("TO_FLOAT", "TO_STRING", "TO_INT64")},
    ("ai.onnx.ml", "CastMap", "map_form"): {1: ("DENSE", "SPARSE")},
    ("ai.onnx.ml", "LinearClassifier", "post_transform"): {1: _POST_TRANSFORM},
    ("ai.onnx.ml", "LinearRegressor", "post_transform"): {1: _POST_TRANSFORM},
    ("ai.onnx.ml", "Normalizer", "norm"): {1: ("MAX", "L1", "L2")},
    ("ai.onnx.ml", "SVMClassifier", "kernel_type"): {1: _SVM_KERNEL},
    ("ai.onnx.ml", "SVMClassifier", "post_transform"): {1: _POST_TRANSFORM},
    ("ai.onnx.ml", "SVMRegressor", "kernel_type"): {1: _SVM_KERNEL},
    ("ai.onnx.ml", "SVMRegressor", "post_transform"): {1: _POST_TRANSFORM},
    ("ai.onnx.ml", "TreeEnsembleClassifier", "nodes_modes"): {1: _NODE_MODES},
    ("ai.onnx.ml", "TreeEnsembleClassifier", "post_transform"): {1: _POST_TRANSFORM},
    ("ai.onnx.ml", "TreeEnsembleRegressor", "aggregate_function"): {1: _TREE_AGGREGATE},
    ("ai.onnx.ml", "TreeEnsembleRegressor", "nodes_modes"): {1: _NODE_MODES},
    ("ai.onnx.ml", "TreeEnsembleRegressor", "post_transform"): {1: _POST_TRANSFORM},
    ("ai.onnx.preview.training", "Momentum", "mode"): {1: ("nesterov", "standard")},
}

# String attributes whose values the standard leaves open, or gives by a rule and not by a list
# (Cast version 1: the names of TensorProto.DataType).
FREE_TEXT: set[tuple[str, str, str]] = {
    ("", "Cast", "to"),
    ("", "Constant", "value_string"),
    ("", "Constant", "value_strings"),
    ("", "Einsum", "equation"),
    ("", "RegexFullMatch", "pattern"),
    ("", "StringNormalizer", "locale"),
    ("", "StringNormalizer", "stopwords"),
    ("", "StringSplit", "delimiter"),
    ("", "TfIdfVectorizer", "pool_strings"),
    ("ai.onnx.ml", "CategoryMapper", "cats_strings"),
    ("ai.onnx.ml", "CategoryMapper", "default_string"),
    ("ai.onnx.ml", "DictVectorizer", "string_vocabulary"),
    ("ai.onnx.ml", "LabelEncoder", "classes_strings"),
    ("ai.onnx.ml", "LabelEncoder", "default_string"),
    ("ai.onnx.ml", "LabelEncoder", "keys_strings"),
    ("ai.onnx.ml", "LabelEncoder", "values_strings"),
    ("ai.onnx.ml", "LinearClassifier", "classlabels_strings"),
    ("ai.onnx.ml", "OneHotEncoder", "cats_strings"),
    ("ai.onnx.ml", "SVMClassifier", "classlabels_strings"),
    ("ai.onnx.ml", "TreeEnsembleClassifier", "classlabels_strings"),
    ("ai.onnx.ml", "ZipMap", "classlabels_strings"),
    ("ai.onnx.preview.training", "Gradient", "xs"),
    ("ai.onnx.preview.training", "Gradient", "y"),
    ("ai.onnx.preview.training", "Gradient", "zs"),
}


def legal_strings(domain: str, operator: str, attribute: str, version: int) -> tuple[str, ...]:
    """The strings that are legal at that version; empty: any."""
    rows = ENUMERATIONS.get((domain, operator, attribute), {})
    since = [row for row in rows if row <= version]
    return rows[max(since)] if since else ()
