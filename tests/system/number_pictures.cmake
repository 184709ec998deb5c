# Pictures of quantities that are numbers: with a sign, or bounded.
echoform_system_test(system_number_pictures number_pictures_test.py ${ECHOFORM_WITH_DCMTK})
