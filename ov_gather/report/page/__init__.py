"""What the HTML pages of all commands share: skeleton, style, script, cards with filters, differences."""
