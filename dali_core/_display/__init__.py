"""Tables and pictures in HTML that notebooks show of objects, without other packages."""
