# Where outputs for medical viewers put a point.
echoform_system_test(system_anatomical_places anatomical_places_test.py ${ECHOFORM_WITH_DCMTK})
