#include <cmath>
#include <vector>

int main() {
  const std::vector<double> values(1, 4.0);
  return std::sqrt(values.front()) == 2.0 ? 0 : 1;
}
