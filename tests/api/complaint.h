// What a call that must fail says.
#pragma once

#include <sardonyx/sardonyx.h>

#include <string>

template <typename Call>
std::string complaint_of(Call&& call) {
    try {
        call();
    } catch (const sardonyx::Error& error) {
        return error.what();
    }
    return "no error";
}
