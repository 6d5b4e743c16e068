// Live handles of one kind. A handle is the object's address; asking for one that is not live gives null,
// never a wild access. Called by the driver API. Thread rule: any thread. Failure rule: null.
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace softgpu {

// Every implementation of an entry point leaves on the first refusal.
#define SOFTGPU_TRY(call) \
  if (const CUresult softgpu_result = (call); softgpu_result != CUDA_SUCCESS) return softgpu_result

template <class Object, class Handle>
class Registry {
 public:
  static Registry& instance() {
    static Registry* const registry = new Registry;
    return *registry;
  }
  Handle add(std::shared_ptr<Object> object) {
    const std::unique_lock lock(mutex_);
    auto* const handle = reinterpret_cast<Handle>(object.get());
    objects_[handle] = std::move(object);
    return handle;
  }
  std::shared_ptr<Object> find(Handle handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Object> remove(Handle handle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  template <class Condition>
  std::vector<std::shared_ptr<Object>> remove_if(Condition&& condition) {
    std::vector<std::shared_ptr<Object>> removed;
    const std::unique_lock lock(mutex_);
    for (auto it = objects_.begin(); it != objects_.end();) {
      if (!condition(*it->second)) {
        ++it;
        continue;
      }
      removed.push_back(std::move(it->second));
      it = objects_.erase(it);
    }
    return removed;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace softgpu
