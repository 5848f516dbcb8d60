"""Reports for users and programs: one folder per command, one file per format. Files beside the folders are shared."""
