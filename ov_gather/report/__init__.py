"""This module tells what people and programs are shown. A folder is a command, a file in it is a format; files beside the
folders are shared.
"""
