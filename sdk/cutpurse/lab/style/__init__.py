"""What bots do, as numbers with intervals, from records; and which house bot plays most alike."""
