"""What people and programs are shown; a folder is a command, a file is a format."""
