// The Python class Schemas: operators of other domains, read from schema files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ops/schema_set.h"

namespace sardonyx::python {

struct Schemas {
    std::shared_ptr<ops::SchemaSet> set;
    std::vector<std::string> paths;
};

}  // namespace sardonyx::python
