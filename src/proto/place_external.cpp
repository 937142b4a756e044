#include "proto/place_external.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace sardonyx::proto {
namespace {

std::string_view bytes_of(const ir::Value& initializer) {
    std::span<const std::byte> bytes = initializer.constant->stored_bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The large initializers of the main graph, file by file; those that share the bytes of another are
// in `twins`.
std::vector<std::vector<const ir::Value*>> divide(
    const ir::Model& model, const External& external,
    std::vector<std::pair<const ir::Value*, const ir::Value*>>& twins) {
    std::vector<std::vector<const ir::Value*>> files;
    std::unordered_map<std::string_view, const ir::Value*> known;
    size_t size = 0;
    for (const ir::Value* initializer : model.graph->initializers) {
        bool is_large = initializer->sparse == nullptr && external.smallest != 0 &&
                        initializer->constant->element_type() != ElementType::kString &&
                        initializer->constant->stored_bytes().size() >= external.smallest &&
                        (external.takes == nullptr || external.takes(*initializer->constant));
        if (!is_large) {
            continue;
        }
        std::string_view bytes = bytes_of(*initializer);
        if (external.shares_equal) {
            auto [place, is_new] = known.emplace(bytes, initializer);
            if (!is_new) {
                twins.emplace_back(initializer, place->second);
                continue;
            }
        }
        bool is_full = external.file_bytes != 0 && size + bytes.size() > external.file_bytes;
        if (files.empty() || is_full) {
            files.emplace_back();
            size = 0;
        }
        files.back().push_back(initializer);
        size += bytes.size();
    }
    return files;
}

// Adds the file of these initializers, and their places in it.
Result<void> place_file(External& external, std::span<const ir::Value* const> initializers,
                        Places& places) {
    static constexpr size_t kMostZeros = 65536;
    static constexpr char kZeros[kMostZeros] = {};
    size_t number = external.files.size();
    const std::string& location =
        number < external.locations.size() ? external.locations[number] : external.location;
    std::vector<std::string_view>& parts = external.files.emplace_back();
    size_t alignment = std::clamp<size_t>(external.alignment, 1, kMostZeros);
    size_t size = 0;
    if (external.header != nullptr) {
        SDX_ASSIGN(std::string header, external.header(initializers));
        external.headers.push_back(std::make_unique<std::string>(std::move(header)));
        parts.emplace_back(*external.headers.back());
        size = parts.back().size();
        alignment = 1;
    }
    for (const ir::Value* initializer : initializers) {
        if (size % alignment != 0) {
            parts.emplace_back(kZeros, alignment - size % alignment);
            size += parts.back().size();
        }
        parts.push_back(bytes_of(*initializer));
        places.emplace(initializer,
                       Place{location, std::to_string(size), std::to_string(parts.back().size())});
        size += parts.back().size();
    }
    return {};
}

}  // namespace

Result<Places> place_initializers(const ir::Model& model, External* external) {
    Places places;
    if (external == nullptr || model.graph == nullptr) {
        return places;
    }
    external->files.clear();
    external->headers.clear();
    std::vector<std::pair<const ir::Value*, const ir::Value*>> twins;
    for (const std::vector<const ir::Value*>& file : divide(model, *external, twins)) {
        SDX_TRY(place_file(*external, file, places));
    }
    for (const auto& [initializer, other] : twins) {
        Place place = places.at(other);
        places.emplace(initializer, std::move(place));
    }
    return places;
}

}  // namespace sardonyx::proto
