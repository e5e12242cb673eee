"""Programs that show the library at work, and the generated photos that they run on."""
