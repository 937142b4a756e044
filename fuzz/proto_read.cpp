// Any bytes as a model, a function and a tensor: an error, or something that can be written, read
// again and written alike. Corpus: the files of tests/python/models/test_proto.py and any .onnx
// file.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/check.h"
#include "proto/proto.h"

namespace {

namespace proto = sardonyx::proto;
using sardonyx::Result;

using Bytes = std::span<const std::byte>;

Result<std::string> rewrite_model(Bytes bytes) {
    auto model = proto::read_model(bytes, nullptr);
    SDX_TRY(model);
    return proto::write_model(**model);
}

Result<std::string> rewrite_function(Bytes bytes) {
    auto model = proto::read_function(bytes, nullptr);
    SDX_TRY(model);
    return proto::write_function(**model, *(*model)->functions.front());
}

Result<std::string> rewrite_tensor(Bytes bytes) {
    auto tensor = proto::read_tensor(bytes, nullptr);
    SDX_TRY(tensor);
    return proto::write_tensor(*tensor, "");
}

void check_rewrite(Result<std::string> (*rewrite)(Bytes), Bytes bytes) {
    Result<std::string> once = rewrite(bytes);
    if (!once.ok()) {
        SDX_CHECK(!once.error().message.empty());
        return;
    }
    Result<std::string> twice = rewrite(std::as_bytes(std::span<const char>(*once)));
    SDX_CHECK(twice.ok() && *twice == *once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Bytes bytes = std::as_bytes(std::span<const uint8_t>(data, size));
    check_rewrite(rewrite_model, bytes);
    check_rewrite(rewrite_function, bytes);
    check_rewrite(rewrite_tensor, bytes);
    return 0;
}
