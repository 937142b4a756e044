// Models that are written as they were read: to the last byte, where nobody has changed them.
//
// What write_model() gives has one form for all that protobuf can say in several ways (proto.h says
// what is lost); a model that has only been looked at keeps the form of its file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/proto.h"

namespace sardonyx::proto {

enum class ExternalParts : uint8_t { kLost, kSeenTo };

// The bytes of the source, where reading them gives this very model; else none. Nobody has to
// remember what was changed. A model with external data has other bytes without its folder: none,
// unless what becomes of the files is seen to (kSeenTo).
std::string_view bytes_as_read(const ir::Model& model, const Source& source,
                               ExternalParts external = ExternalParts::kLost);

// As it was read, or as write_model_parts() and write_model() do it.
Result<ModelParts> write_parts_as_read(const ir::Model& model, const Source& source,
                                       Form form = Form::kBytes);
Result<std::string> write_as_read(const ir::Model& model, const Source& source);

}  // namespace sardonyx::proto
