"""People of the single decisions (CLIPR): preference profiles and a simulated respondent."""
