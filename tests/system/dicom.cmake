echoform_system_test(system_dicom dicom_test.py ${ECHOFORM_WITH_DCMTK})
