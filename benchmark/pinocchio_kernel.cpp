// Copyright 2026 rbd_ros maintainers
// SPDX-License-Identifier: Apache-2.0
// Pinocchio's algorithms in a loop, for benchmark/kernel_alone.py: nothing but the calls is timed.
//
// pinocchio_kernel MODEL FUNCTION STATES
//   MODEL     text archive written by pinocchio's Model.saveToText
//   FUNCTION  rnea | crba | aba
//   STATES    doubles, one state after another: q (nq), v (nv), a or tau (nv)
//
// Each number N read from standard input runs N calls, going round the states, and prints the
// processor time of one call in nanoseconds. The model comes from an archive and not from a URDF
// because the parser lives in the installed library, which was compiled without -march=native:
// Eigen types of different alignment must not cross that border.

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct State {
  Eigen::VectorXd q, v, a;
};

std::vector<State> read_states(const std::string& path, const pinocchio::Model& model) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto* values = reinterpret_cast<const double*>(bytes.data());
  const std::size_t size = model.nq + 2 * model.nv;
  std::vector<State> states;
  for (std::size_t k = 0; k < bytes.size() / (size * sizeof(double)); ++k) {
    const double* start = values + k * size;
    states.push_back({Eigen::Map<const Eigen::VectorXd>(start, model.nq),
                      Eigen::Map<const Eigen::VectorXd>(start + model.nq, model.nv),
                      Eigen::Map<const Eigen::VectorXd>(start + model.nq + model.nv, model.nv)});
  }
  if (states.empty()) throw std::runtime_error("no states in " + path);
  return states;
}

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

template <typename Call>
void serve(const std::vector<State>& states, Call call) {
  long count = 0;
  while (std::cin >> count) {
    std::size_t k = 0;
    const double start = now();
    for (long i = 0; i < count; ++i) {
      call(states[k]);
      if (++k == states.size()) k = 0;
    }
    std::cout << (now() - start) / static_cast<double>(count) << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: pinocchio_kernel MODEL rnea|crba|aba STATES\n";
    return 2;
  }
  pinocchio::Model model;
  model.loadFromText(argv[1]);
  pinocchio::Data data(model);
  const std::string function = argv[2];
  const std::vector<State> states = read_states(argv[3], model);
  if (function == "rnea") {
    serve(states, [&](const State& s) { pinocchio::rnea(model, data, s.q, s.v, s.a); });
  } else if (function == "crba") {
    serve(states, [&](const State& s) { pinocchio::crba(model, data, s.q); });
  } else if (function == "aba") {
    serve(states, [&](const State& s) { pinocchio::aba(model, data, s.q, s.v, s.a); });
  } else {
    std::cerr << "unknown function " << function << "\n";
    return 2;
  }
  return 0;
}
