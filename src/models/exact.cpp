#include "models/exact.h"

#include <optional>
#include <span>

#include "base/base64.h"
#include "models/like.h"
#include "proto/proto.h"
#include "proto/skeleton.h"

namespace sardonyx::models {

Result<std::string> exact_words(const ir::Model& model, const proto::Source& source,
                                const ir::Model& compiled) {
    SDX_ASSIGN(std::string bytes, proto::write_as_read(model, source));
    SDX_ASSIGN(std::string other, proto::write_model(compiled));
    SDX_ASSIGN(std::string skeleton, proto::skeleton_of(bytes, other));
    return base64(skeleton);
}

Result<void> apply_exact_words(std::unique_ptr<ir::Model>& compiled, std::string_view words,
                               proto::Source& source, FirstDifference difference) {
    std::optional<std::string> skeleton = from_base64(words);
    if (!skeleton) {
        return Error{"it is not base64"};
    }
    SDX_ASSIGN(std::string other, proto::write_model(*compiled));
    SDX_ASSIGN(std::string made, proto::model_of_skeleton(*skeleton, other));
    auto bytes = std::make_shared<std::string>(std::move(made));
    source = {bytes, std::as_bytes(std::span<const char>(*bytes))};
    Result<std::unique_ptr<ir::Model>> like = proto::read_model(source.bytes, bytes);
    SDX_TRY(like);
    make_like(compiled, **like, difference);
    return {};
}

}  // namespace sardonyx::models
