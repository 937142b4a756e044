#include "ops/schema_set.h"

#include <algorithm>
#include <tuple>

#include "base/nearest.h"

namespace sardonyx::ops {
namespace {

using Entries = std::vector<std::unique_ptr<SchemaSet::Entry>>;

std::tuple<std::string_view, std::string_view, int64_t> key(
    const std::unique_ptr<SchemaSet::Entry>& entry) {
    const Schema& schema = entry->schema;
    return {schema.domain, schema.name, schema.since_version};
}

// The first entry of a version that is newer.
Entries::const_iterator after(const Entries& entries, std::string_view domain,
                              std::string_view name, int64_t version) {
    return std::upper_bound(
        entries.begin(), entries.end(), std::tuple(domain, name, version),
        [](const auto& wanted, const auto& entry) { return wanted < key(entry); });
}

}  // namespace

bool SchemaSet::add(Entry entry) {
    const Schema& schema = entry.schema;
    auto place = after(entries_, schema.domain, schema.name, schema.since_version);
    bool is_known = place != entries_.begin() &&
                    key(*std::prev(place)) ==
                        std::tuple(schema.domain, schema.name, int64_t{schema.since_version});
    if (is_known || !schema_versions(schema.domain, schema.name).empty()) {
        return false;
    }
    entries_.insert(place, std::make_unique<Entry>(std::move(entry)));
    return true;
}

const SchemaSet::Entry* SchemaSet::find(std::string_view domain, std::string_view name,
                                        int64_t version) const {
    auto next = after(entries_, domain, name, version);
    if (next == entries_.begin()) {
        return nullptr;
    }
    const Entry* found = std::prev(next)->get();
    return found->schema.domain == domain && found->schema.name == name ? found : nullptr;
}

const Schema* find_schema(const SchemaSet* set, std::string_view domain, std::string_view name,
                          int64_t version) {
    if (const Schema* found = find_schema(domain, name, version)) {
        return found;
    }
    const SchemaSet::Entry* entry = set != nullptr ? set->find(domain, name, version) : nullptr;
    return entry != nullptr ? &entry->schema : nullptr;
}

int64_t first_version(const SchemaSet* set, std::string_view domain, std::string_view name) {
    std::span<const Schema> versions = schema_versions(domain, name);
    if (!versions.empty()) {
        return versions[0].since_version;
    }
    if (set == nullptr) {
        return 0;
    }
    auto first = after(set->entries(), domain, name, 0);
    bool is_it = first != set->entries().end() && (*first)->schema.domain == domain &&
                 (*first)->schema.name == name;
    return is_it ? (*first)->schema.since_version : 0;
}

bool has_domain(const SchemaSet* set, std::string_view domain) {
    return find_domain(domain) != nullptr ||
           (set != nullptr &&
            std::any_of(set->entries().begin(), set->entries().end(),
                        [domain](const auto& entry) { return entry->schema.domain == domain; }));
}

std::string_view nearest_operator(const SchemaSet* set, std::string_view domain,
                                  std::string_view name, int64_t version) {
    std::string_view near = nearest_operator(domain, name, version);
    if (set == nullptr || !near.empty()) {
        return near;
    }
    std::vector<std::string_view> candidates;
    for (const auto& entry : set->entries()) {
        if (entry->schema.domain == domain && entry->schema.since_version <= version) {
            candidates.push_back(entry->schema.name);
        }
    }
    return nearest(name, candidates);
}

}  // namespace sardonyx::ops
