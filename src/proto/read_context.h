// What the functions that read one file share: where in the tree of messages they are, the limits,
// the names in sight, and the first thing that went wrong. Internal to proto/.
//
// Every read function returns false after it has said why through fail(); the caller returns false
// at once. protozero throws on damaged bytes, and read.cpp catches that at the entry. The path is a
// plain stack that only a function which succeeds pops, so that it still says where a failure or an
// exception happened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "ir/ir.h"
#include "proto/proto.h"

namespace sardonyx::proto {

class ReadContext {
  public:
    ReadContext(const ReadOptions& options, std::shared_ptr<const void> owner, ir::Model* model)
        : options(options),
          owner(std::move(owner)),
          model(*model),
          external_files(options.files != nullptr ? *options.files : own_files_) {}
    ReadContext(const ReadContext&) = delete;
    ReadContext& operator=(const ReadContext&) = delete;

    const ReadOptions& options;
    std::shared_ptr<const void> owner;  // of the file's bytes
    ir::Model& model;

    // The value that a name means at this point, by symbol; null: none.
    std::vector<ir::Value*> bindings;
    // One Dim for each text, so that its expression is parsed once and shared.
    struct NamedDim {
        Dim dim;
        bool is_respelled;  // it prints as another text: `N + 1` as `N+1`
    };
    std::unordered_map<std::string_view, NamedDim> dims;
    // Types of values that have been read, with what reading them has said, by their bytes: most
    // values of a model have one of a few types. A place for each hash, so it holds the latest.
    struct KnownType {
        std::string_view bytes;  // of the file
        Type type;
        bool is_opaque = false;
        bool says_more = false;
        int64_t items = 0;
        int depth = 0;  // where it was read, so that one further inside is read again
    };
    static constexpr size_t kKnownTypes = 64;
    std::vector<KnownType> types;
    // Whether the bytes of a type are kept beside it, and whether they say more than the type does.
    bool keeps_types = false;
    bool says_more = false;
    // The graphs that are being read, outermost first: the messages of their nodes and how many
    // have been read. For telling a use before the definition from an unknown name.
    struct OpenGraph {
        const std::vector<std::string_view>* nodes;
        size_t next;
    };
    std::vector<OpenGraph> open_graphs;
    ExternalFiles& external_files;

    // Says what is wrong at the current place; the first one is kept. Returns false.
    bool fail(const std::string& message);
    // Says what the format forbids though it can be read (ReadOptions::breaches).
    void note(const std::string& message);
    bool failed() const { return !error_.empty(); }
    const std::string& error() const { return error_; }

    // Done for every message: the steps stay allocated, only their number changes.
    void enter(std::string_view field, int64_t index = -1) {
        if (path_length_ == path_.size()) {
            path_.resize(path_length_ + 64);
        }
        path_[path_length_++] = {field, index};
    }
    void leave() { --path_length_; }

    // Counts messages that contain messages of their own kind.
    bool descend();
    void ascend() { --depth_; }
    // Counts items against the limit.
    bool take(int64_t items = 1) {
        items_ += items;
        return items_ <= options.max_items || fail_items();
    }
    int64_t items() const { return items_; }
    int depth() const { return depth_; }
    // Keeps a message for later, and counts it.
    bool collect(std::string_view message, std::vector<std::string_view>* messages) {
        messages->push_back(message);
        return take();
    }
    // A text of the file, kept in the model. It must be UTF-8, as `string` fields are.
    bool keep(std::string_view text, std::string_view* kept);
    // The same for one that few others equal.
    bool keep_apart(std::string_view text, std::string_view* kept);
    // The same for a text that the model will intern itself: `result` is a view of the file.
    bool check_text(std::string_view text, std::string_view* result);

  private:
    struct Step {
        std::string_view field;
        int64_t index = -1;
    };

    bool fail_items();
    std::string path() const;
    // The message with its place, on one line.
    std::string placed(const std::string& message) const;

    ExternalFiles own_files_;
    std::vector<Step> path_;
    size_t path_length_ = 0;
    std::string error_;
    int depth_ = 0;
    int64_t items_ = 0;
};

// A tensor and what stands beside its elements. The texts are views of the file.
struct NamedTensor {
    Tensor tensor;
    std::string_view name;
    std::string_view doc;
    ir::Metadata metadata;
};

// read_context.cpp: the numbers of a packed list.
bool read_varints(ReadContext& context, std::string_view packed, std::vector<int64_t>* result);
// read_tensor.cpp
bool read_tensor(ReadContext& context, std::string_view bytes, NamedTensor* result);
// read_sparse_tensor.cpp; `name` is that of the values.
bool read_sparse_tensor(ReadContext& context, std::string_view bytes, ir::SparseTensor* result,
                        std::string_view* name);
// read_external.cpp: the bytes that a tensor of `size` bytes has in another file.
struct ExternalData {
    std::string_view location;
    std::string_view offset;
    std::string_view length;
};
// What is said of external data beside elements that are in the file itself, which writers leave
// there: numbers that a tensor can have.
bool check_unused_external(ReadContext& context, const ExternalData& data);
bool map_external(ReadContext& context, const ExternalData& data, size_t size, MappedFile* result);
// read_type.cpp
bool read_type(ReadContext& context, std::string_view bytes, Type* result, bool* is_opaque);
// read_attribute.cpp; `graph` is the one that the node stands in.
bool read_attribute(ReadContext& context, std::string_view bytes, ir::Graph* graph,
                    ir::Attribute* result);
bool read_attributes(ReadContext& context, std::string_view field,
                     const std::vector<std::string_view>& messages, ir::Graph* graph,
                     std::vector<ir::Attribute>* result);
// read_value_info.cpp
bool read_metadata(ReadContext& context, std::string_view bytes, ir::Metadata* result);
struct ValueInfo {
    std::string_view name;
    ir::Value* value = nullptr;  // what has the name, where it is read
    Type type;
    std::string_view kept_type;  // the TypeProto, when `type` does not say it all
    std::string_view doc;
    ir::Metadata metadata;
};

bool read_value_info(ReadContext& context, std::string_view bytes, ValueInfo* result);
// What is known already wins: an initializer's type is that of its elements, an input's is declared
// with it, and a graph output's comes before that of a value_info entry.
void apply_value_info(ReadContext& context, ValueInfo&& info, ir::Value* value);
// read_graph.cpp
bool read_graph(ReadContext& context, std::string_view bytes, ir::Graph* graph);
// The messages of a graph or function body, as views of the file.
struct BodyParts {
    std::vector<std::string_view> inputs;  // of a function: names; else ValueInfoProtos
    std::vector<std::string_view> outputs;
    std::vector<std::string_view> initializers;
    std::vector<std::string_view> sparse_initializers;
    std::vector<std::string_view> nodes;
    std::vector<std::string_view> value_infos;
};
enum class BodyKind : uint8_t { kGraph, kFunction };
bool read_body(ReadContext& context, const BodyParts& parts, BodyKind kind, ir::Graph* graph);

}  // namespace sardonyx::proto
