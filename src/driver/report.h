// What a compiler or parser has found, in the forms that callers in other languages read.
#pragma once

#include <memory>
#include <string>

#include "diagnostics/diagnostic.h"
#include "ir/ir.h"

namespace sardonyx::driver {

struct Report {
    std::string text;         // as on a terminal without colours
    std::string json = "[]";  // diagnostics/render.h
};

Report report_of(const diagnostics::Sources& sources, const diagnostics::Diagnostics& found);

struct ReportedModel {
    std::unique_ptr<ir::Model> model;  // null: there are errors
    Report report;
};

}  // namespace sardonyx::driver
