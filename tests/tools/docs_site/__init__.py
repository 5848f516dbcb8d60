"""The site of the documentation: pages of docs/, and a reference made from the code."""
