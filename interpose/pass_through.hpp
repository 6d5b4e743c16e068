// Calls that go to the driver as they are: with one retry where memory ran out, and, for those that enqueue
// work, with word to the runtime. Made by the generated wrappers. Thread rule: from any thread of the
// program. Failure rule: the driver's answers.
#pragma once

#include "interpose/genuine.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors {

template <class Function, class... Arguments>
CUresult pass_with_retry(const Genuine<Function>& driver, Arguments... arguments) noexcept {
  const Visit visit;
  return visit.with_room([&] { return driver(arguments...); });
}

template <runtime::AccessKind kind, bool opaque, class Function, class... Arguments>
CUresult enqueue(const Genuine<Function>& driver, CUstream stream, Arguments... arguments) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(arguments...); };
  if (!visit) return call();
  runtime::Access access{};
  access.kind = kind;
  access.stream = driver.stream(stream);
  access.opaque = opaque;
  return visit.access(access, call);
}

}  // namespace tencache::doors
