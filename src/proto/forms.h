// The forms that a model has as a file: protobuf's bytes, protobuf's JSON and text format, and the
// text of onnx.parser. Each form but the first is made of the bytes, and made into them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sardonyx::proto {

enum class Form : uint8_t { kBytes, kOnnxText, kJson, kTextProto };

// By the ending of a file's name, as onnx.save does it: `.onnxtxt` and `.onnxtext`; `.json` and
// `.onnxjson`; `.textproto`, `.txtpb`, `.prototxt` and `.pbtxt`; all others are bytes.
Form form_of_path(std::string_view path);
// `onnx`, `onnxtxt`, `json`, `textproto`; bytes for any other.
inline constexpr std::string_view kFormNames[] = {"onnx", "onnxtxt", "json", "textproto"};
Form form_of_name(std::string_view name);

// The bytes of a ModelProto in a form that is text. JSON and the text format hold all that
// onnx.proto has. The text of onnx.parser has no words for some: what results do not depend on is
// left out, and a comment at the top says so; anything else is an Error.
Result<std::string> text_of_model(std::string_view bytes, Form form);
// The text of onnx.parser for people, which there is for every model: of tensors of more than
// `most_elements` elements the first ones. A comment at the top says why it cannot be read back,
// where that is so.
Result<std::string> shown_text_of_model(std::string_view bytes, int64_t most_elements);

// The bytes of a ModelProto from a text.
Result<std::string> bytes_of_text(std::string_view text, Form form);

}  // namespace sardonyx::proto
