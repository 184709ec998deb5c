#include "rays/scene.hpp"

namespace echoform {

double Scene::below_front(const Point& place) const {
  if (spatial_surface != nullptr) return spatial_surface->signed_distance(vector_of(place));
  if (surface != nullptr) return surface->signed_distance({place.x.value, place.z.value});
  return place.z.value;
}

}  // namespace echoform
