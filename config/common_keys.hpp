// Sections and keys that no method owns.
#pragma once

#include <vector>

#include "config/key.hpp"

namespace echoform {

/// In the order of the documentation.
[[nodiscard]] std::vector<Section> common_sections();
/// Every key of these sections but those that methods have in them.
[[nodiscard]] std::vector<Key> common_keys();

// Parts of the table that stand in files of their own.
void add_detector_keys(std::vector<Key>& keys);
void add_encoder_keys(std::vector<Key>& keys);
void add_input_keys(std::vector<Key>& keys);
void add_dicom_keys(std::vector<Key>& keys);        ///< DicomSection, dicom_section.hpp
void add_openigtlink_keys(std::vector<Key>& keys);  ///< OpenIgtlinkSection, openigtlink_section.hpp
void add_micropulse_keys(std::vector<Key>& keys);   ///< MicropulseSection, micropulse_section.hpp
void add_us_lab4a_keys(std::vector<Key>& keys);     ///< UsLab4aSection, us_lab4a_section.hpp
void add_recorder_keys(std::vector<Key>& keys);
void add_reconstruction_keys(std::vector<Key>& keys);  ///< ReconstructionSection, reconstruction_section.hpp
void add_scene_keys(std::vector<Key>& keys);
void add_security_keys(std::vector<Key>& keys);
void add_sound_keys(std::vector<Key>& keys);
void add_tissue_keys(std::vector<Key>& keys);

}  // namespace echoform
