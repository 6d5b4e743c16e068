// What a node's contents do when they are put into a stream.
#include <algorithm>
#include <utility>

#include "tools/softgpu/device/clock.hpp"
#include "tools/softgpu/device/statistics.hpp"
#include "tools/softgpu/driver/graph.hpp"

namespace softgpu {
namespace {

EngineKind engine_of(const NodeContents& contents) {
  if (const auto* copy = std::get_if<CopyNode>(&contents.what)) return copy->plan.engine();
  if (std::holds_alternative<HostNode>(contents.what)) return EngineKind::kHostThread;
  const bool computes =
      std::holds_alternative<KernelNode>(contents.what) || std::holds_alternative<FillNode>(contents.what);
  return computes ? EngineKind::kCompute : EngineKind::kInline;
}

void execute(const NodeContents& contents, Fate& fate, Progress& progress) {
  if (const auto* kernel = std::get_if<KernelNode>(&contents.what))
    execute_launch(kernel->launch, fate, progress);
  if (const auto* copy = std::get_if<CopyNode>(&contents.what))
    execute_copy(machine().device(fate.device), copy->plan, fate, progress);
  if (const auto* fill = std::get_if<FillNode>(&contents.what))
    execute_fill(machine().device(fate.device), fill->plan, fate, progress);
  if (const auto* host = std::get_if<HostNode>(&contents.what))
    call_host([host] { host->function(host->data); }, progress);
}

}  // namespace

void call_host(const std::function<void()>& call, Progress& progress) {
  count(statistics().host_functions);
  in_host_function = true;
  call();
  in_host_function = false;
  progress.end = std::max(progress.start, now_ns());
}

Work work_of(const ContentsPtr& contents, const std::shared_ptr<Fate>& fate) {
  if (const auto* value = std::get_if<ValueNode>(&contents->what)) return value->work;
  Work work;
  work.engine = engine_of(*contents);
  work.contents = contents;
  if (work.engine != EngineKind::kInline)
    work.body = [contents, fate](Progress& progress) { execute(*contents, *fate, progress); };
  return work;
}

}  // namespace softgpu
