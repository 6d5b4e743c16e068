// The life of an extent as a state machine: DESIGN 6.1. Every transition the mechanism makes is a row of one
// table here; anything else is a bug and stops the process before memory can be damaged. Called by the
// engine, the admission and the heap, under the memory's mutex. Thread rule: plain values. Failure rule:
// `next_state` answers nothing for a pair that is not in the table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tencache::vmm {

enum class ExtentState : std::uint8_t {
  kAbsent,       // no bytes anywhere, unmapped
  kBacking,      // its first block is being zeroed and mapped
  kResident,     // in HBM and mapped
  kLeaving,      // copy to the host under way, still mapped from HBM
  kChangingOut,  // no access is let in: mapping on its way from HBM to the host
  kOut,          // bytes on the host; mapped from there, or unmapped in detached mode
  kArriving,     // copy to HBM under way, mapping as in kOut
  kChangingIn,   // no access is let in: mapping on its way from the host to HBM
  kReleasing,    // bytes are given up, mapping being taken away
};

enum class ExtentEvent : std::uint8_t {
  kBack,        // a block was found for an extent that has no bytes
  kBackedHbm,   // that block is in HBM, zeroed and mapped
  kBackedHost,  // that block is on the host, zeroed and (mapped mode) mapped
  kStartOut,    // copy out enqueued behind the last use
  kTouch,       // an access is let in
  kCleaned,     // copy out complete, but the room is not wanted: it stays
  kCopiedOut,   // copy out complete, nothing touched it since
  kDropClean,   // the host has the same bytes already
  kChangedOut,  // mapping done
  kStartIn,     // copy in enqueued
  kCopiedIn,    // copy in complete, nothing touched it since
  kChangedIn,   // mapping done
  kRelease,     // the program has freed it
  kReleased,    // mapping taken away
  kFail,        // the driver refused; the bytes stay where they were
};

struct Transition {
  ExtentState from;
  ExtentEvent event;
  ExtentState to;
};

// A touch of a leaving or arriving extent makes the copy void; the mapping never changed, so it just stays.
inline constexpr std::array kTransitions{
    Transition{ExtentState::kAbsent, ExtentEvent::kBack, ExtentState::kBacking},
    Transition{ExtentState::kBacking, ExtentEvent::kBackedHbm, ExtentState::kResident},
    Transition{ExtentState::kBacking, ExtentEvent::kBackedHost, ExtentState::kOut},
    Transition{ExtentState::kBacking, ExtentEvent::kFail, ExtentState::kAbsent},
    Transition{ExtentState::kResident, ExtentEvent::kTouch, ExtentState::kResident},
    Transition{ExtentState::kResident, ExtentEvent::kStartOut, ExtentState::kLeaving},
    Transition{ExtentState::kResident, ExtentEvent::kDropClean, ExtentState::kChangingOut},
    Transition{ExtentState::kResident, ExtentEvent::kRelease, ExtentState::kReleasing},
    Transition{ExtentState::kLeaving, ExtentEvent::kTouch, ExtentState::kResident},
    Transition{ExtentState::kLeaving, ExtentEvent::kCleaned, ExtentState::kResident},
    Transition{ExtentState::kLeaving, ExtentEvent::kCopiedOut, ExtentState::kChangingOut},
    Transition{ExtentState::kLeaving, ExtentEvent::kFail, ExtentState::kResident},
    Transition{ExtentState::kChangingOut, ExtentEvent::kChangedOut, ExtentState::kOut},
    Transition{ExtentState::kChangingOut, ExtentEvent::kFail, ExtentState::kResident},
    Transition{ExtentState::kOut, ExtentEvent::kTouch, ExtentState::kOut},
    Transition{ExtentState::kOut, ExtentEvent::kStartIn, ExtentState::kArriving},
    Transition{ExtentState::kOut, ExtentEvent::kRelease, ExtentState::kReleasing},
    Transition{ExtentState::kArriving, ExtentEvent::kTouch, ExtentState::kOut},
    Transition{ExtentState::kArriving, ExtentEvent::kCopiedIn, ExtentState::kChangingIn},
    Transition{ExtentState::kArriving, ExtentEvent::kFail, ExtentState::kOut},
    Transition{ExtentState::kChangingIn, ExtentEvent::kChangedIn, ExtentState::kResident},
    Transition{ExtentState::kChangingIn, ExtentEvent::kFail, ExtentState::kOut},
    Transition{ExtentState::kReleasing, ExtentEvent::kReleased, ExtentState::kAbsent},
};

constexpr std::optional<ExtentState> next_state(ExtentState from, ExtentEvent event) {
  for (const Transition& row : kTransitions) {
    if (row.from == from && row.event == event) return row.to;
  }
  return std::nullopt;
}

[[nodiscard]] const char* name(ExtentState state);
[[nodiscard]] const char* name(ExtentEvent event);

// The state after `event`. A pair that is not in the table ends the process with a line that names it.
[[nodiscard]] ExtentState advance(ExtentState from, ExtentEvent event);

// Mapped from HBM, so a copy or kernel may be given its address now.
constexpr bool usable_in_hbm(ExtentState state) {
  return state == ExtentState::kResident || state == ExtentState::kLeaving;
}
// Bytes on the host and not being remapped: in mapped mode a kernel may be given its address now.
constexpr bool usable_on_host(ExtentState state) {
  return state == ExtentState::kOut || state == ExtentState::kArriving;
}
// On its way; it settles by our own work alone.
constexpr bool changing(ExtentState state) {
  return state == ExtentState::kBacking || state == ExtentState::kChangingOut ||
         state == ExtentState::kChangingIn || state == ExtentState::kReleasing;
}

}  // namespace tencache::vmm
