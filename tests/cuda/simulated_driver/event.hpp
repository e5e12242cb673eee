// The interface of events for contexts and reports.
#pragma once

#include <cstddef>

#include "context.hpp"

namespace simulated {

std::size_t number_of_events();
void forget_events(Context& context);

}  // namespace simulated
