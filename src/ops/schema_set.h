// Operators of other domains: schemas that a run was given, beside the tables of the standard.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "ops/ops.h"

namespace sardonyx::ops {

// Owns its schemas: their views are of its arena.
class SchemaSet {
  public:
    SchemaSet() = default;
    SchemaSet(const SchemaSet&) = delete;
    SchemaSet& operator=(const SchemaSet&) = delete;

    struct Entry {
        Schema schema;
        std::vector<int> shape_of;  // for each output, the input whose shape it has; -1: not said
    };

    Arena& arena() { return arena_; }
    // False when the set, or the standard, has this operator of this version already.
    bool add(Entry entry);
    // Sorted by domain, name and version.
    const std::vector<std::unique_ptr<Entry>>& entries() const { return entries_; }
    // The entry in force at a version of the domain; null: there is none.
    const Entry* find(std::string_view domain, std::string_view name, int64_t version) const;

  private:
    Arena arena_;
    std::vector<std::unique_ptr<Entry>> entries_;
};

// The tables of the standard and a set (null: none) as one.
const Schema* find_schema(const SchemaSet* set, std::string_view domain, std::string_view name,
                          int64_t version);
// The version that an operator came with; 0: the name is unknown.
int64_t first_version(const SchemaSet* set, std::string_view domain, std::string_view name);
bool has_domain(const SchemaSet* set, std::string_view domain);
// As ops::nearest_operator.
std::string_view nearest_operator(const SchemaSet* set, std::string_view domain,
                                  std::string_view name, int64_t version);

}  // namespace sardonyx::ops
