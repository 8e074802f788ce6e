#pragma once
// The schedule of a run as a timed event graph: what a step consists of, what waits for what, and in which order a rank
// works. The run executes it, the report evaluates it.
//
// A step trains on one iteration. With exact staleness generation is eta = max_staleness iterations ahead: what a step
// draws is the iteration `lead` later than the one it trains on, with the weights as they stand before that training.
// Arcs are mailboxes (in iterations: from one that is drawn to itself; weights: 1 + eta, the feedback), the order of
// work of ranks with several stages, and the places where this program's ranks wait for each other: what was drawn
// beside a training changes hands after it, then the weights do, then all agree on the line of the iteration.

#include <cstdint>
#include <vector>

#include "plan/event_graph.hpp"

namespace maxplus {

// In the order in which ranks that may do several do them.
enum class Stage : std::uint8_t {
  opening,  // the checkpoint of the step before, and at the start what generation must be ahead of training
  generation,
  assessment,  // by the judge; of granularity = "group" it begins with the generation
  settling,    // what is left of both when both have worked as long as they need
  exchange,    // rollouts come to the ranks that train
  scoring,     // by reference and critic
  training,
  hand_off,  // weights come to the ranks that only generate
  closing    // evaluation, the line
};
inline constexpr int kStages = 9;
const char* name_of(Stage stage);

enum class Granularity : std::uint8_t { iteration, group };
enum class Staleness : std::uint8_t {
  exact,   // an iteration is drawn with the version that max_staleness says
  bounded  // with the newest there is, at most max_staleness old; drawing is interrupted when there is a newer one
};
enum class SharedRanks : std::uint8_t {
  none,              // each of generation, assessment and training has its own
  generator_judges,  // those that draw also judge
  all                // some rank does everything
};
enum class Waits : std::uint8_t {
  mailboxes,  // for mail alone: the best that the schedule allows
  world       // also for other ranks, as this program does
};

struct ScheduleKind {
  std::int64_t max_staleness = 0;  // eta; where rollouts may take several iterations, what these leave of it
  Granularity granularity = Granularity::iteration;
  SharedRanks shared = SharedRanks::all;
  Waits waits = Waits::world;
  Staleness staleness = Staleness::exact;
};

class Schedule {
 public:
  explicit Schedule(const ScheduleKind& kind);

  const ScheduleKind& kind() const { return kind_; }
  std::int64_t max_staleness() const { return kind_.max_staleness; }
  const EventGraph& graph() const { return graph_; }  // its nodes are the stages, its steps those of the run
  // How many iterations a stage is ahead of the one that its step trains on.
  std::int64_t lead(Stage stage) const;
  // The version that iteration `iteration` is drawn with in a run that was never made longer.
  std::int64_t version(std::int64_t iteration) const;

  struct Task {
    enum class Work : std::uint8_t { drawing, exchange, training, hand_off, closing } work = Work::drawing;
    std::int64_t iteration = 0;  // of a drawing: that must be whole then; with bounded staleness none if it is beside
    bool beside = false;         // a drawing while others train
    bool operator==(const Task&) const = default;
  };
  // The last iteration that may be under way while `iteration` of `last` is drawn for or trained on.
  std::int64_t admitted(std::int64_t iteration, std::int64_t last) const;
  // What every rank does in the step that trains on `iteration` of `last`, where iterations up to `drawn` have been
  // drawn whole: the same list on all of them, each leaves out work that it has no role for. What generation should be
  // ahead and is not (at the start of a run, and where a finished run is made longer) comes first.
  std::vector<Task> step(std::int64_t iteration, std::int64_t drawn, std::int64_t last) const;

 private:
  void add(Stage from, Stage to, std::int64_t steps);
  void add_mailbox(Stage from, Stage to, std::int64_t iterations);

  ScheduleKind kind_;
  EventGraph graph_;
};

}  // namespace maxplus
