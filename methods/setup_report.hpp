// The figures of a setup, for people and for scripts, and warnings about figures that are likely to disappoint.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace echoform {

struct SetupReport {
  std::vector<std::pair<std::string, std::string>> rows;  ///< name and text
  std::vector<std::string> warnings;
  nlohmann::json values = nlohmann::json::object();  ///< SI units

  void row(std::string name, std::string text) { rows.emplace_back(std::move(name), std::move(text)); }
};

}  // namespace echoform
